import { readAction, type Action } from '../bridge/action.js';
import type { Level } from '../level/level.js';
import type { Json } from '../shared/json.js';
import { chartOf, distance, numberOfTile, type Placed } from './chart.js';
import { deed, refuse, targetOf, type Deed, type Outcome, type Refused } from './deed.js';
import { destinationOf } from './destination.js';
import { interact, use } from './handle-things.js';
import { enter, isDown, isRunOver, isShut, newsOf, NPC_HITS, shortId, type World } from './world.js';

/** How far words carry, in moves, walls or not. */
export const EARSHOT_TILES = 3;

const move = (level: Level, world: World, action: Action): Deed | Refused => {
  const to = destinationOf(level, world, action);
  if ('ok' in to) return to;
  if (!Number.isInteger(to.x) || !Number.isInteger(to.y) || distance(world.at, to) !== 1) {
    return refuse('TOO_FAR', 'One move leads to one of the four neighbouring tiles.');
  }
  const tile = numberOfTile(level, to);
  if (chartOf(level).walls[tile] !== 0) return refuse('WALL_IN_THE_WAY', 'There is a wall.');
  if (isShut(level, world, tile)) return refuse('DOOR_SHUT', 'The door there is shut.');
  return { world: enter(level, world, to) };
};

/** Somebody who can be spoken to or attacked. */
const somebody = (level: Level, world: World, action: Action, tiles: number): Placed | Refused => {
  const target = targetOf(level, world, action, tiles);
  if ('ok' in target) return target;
  if (target.kind !== 'npc') return refuse('TARGET_UNFIT', `The ${target.kind} ${shortId(target.id)} is nobody.`);
  return isDown(world, target.position) ? refuse('TARGET_DOWN', `${shortId(target.id)} is down.`) : target;
};

const speak = (level: Level, world: World, action: Action): Deed | Refused => {
  if ((action.target ?? '') === '') return deed(world, {}, 'You speak to nobody in particular.');
  const target = somebody(level, world, action, EARSHOT_TILES);
  if ('ok' in target) return target;
  return { ...deed(world, {}, `You speak to ${shortId(target.id)}.`), heardBy: target.id };
};

const attack = (level: Level, world: World, action: Action): Deed | Refused => {
  const target = somebody(level, world, action, 1);
  if ('ok' in target) return target;
  const hits = world.hits.map((hit, npc) => (npc === target.position ? hit + 1 : hit));
  const down = (hits[target.position] ?? 0) >= NPC_HITS;
  return deed(world, { hits }, `You hit ${shortId(target.id)}${down ? ', who goes down' : ''}.`);
};

const deeds: ReadonlyMap<string, (level: Level, world: World, action: Action) => Deed | Refused> = new Map([
  ['MOVE', move],
  ['INTERACT', interact],
  ['USE', use],
  ['SPEAK', speak],
  ['ATTACK', attack],
  ['IDLE', (_level: Level, world: World) => deed(world, {}, 'You wait.')],
]);

const judge = (level: Level, world: World, value: Json): Deed | Refused => {
  if (isRunOver(world)) return refuse('RUN_OVER', 'You have no hit points left.');
  const read = readAction(value);
  if (!read.ok) return refuse(read.code, read.reason);
  const doing = deeds.get(read.action.type);
  return (
    doing?.(level, world, read.action) ?? refuse('ACTION_UNKNOWN', `This world knows no ${shortId(read.action.type)}.`)
  );
};

/**
 * What an action does to the world, or why it does nothing. Total: whatever the action holds, it never throws. Of a refusal the world keeps only the
 * news that it tells the ghost.
 */
export const act = (
  level: Level,
  world: World,
  action: Json | Action,
): { readonly world: World; readonly outcome: Outcome } => {
  const done = judge(level, world, action as Json);
  if ('ok' in done) return { world: { ...world, news: newsOf([`Nothing happens. ${done.reason}`]) }, outcome: done };
  const { heardBy } = done;
  return {
    world: done.world,
    outcome: { ok: true, happened: done.world.news, ...(heardBy === undefined ? {} : { heardBy }) },
  };
};

/** The world after a step in which the mind did not let the ghost act; the next observation says why. */
export const heldBack = (world: World, reason: string): World => ({
  ...world,
  news: newsOf([`You hold back. ${reason}`]),
});
