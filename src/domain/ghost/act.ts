import { readAction, type Action } from '../bridge/action.js';
import { itemsOf, pointOf } from '../bridge/world.js';
import type { Item, Level, Tile } from '../level/level.js';
import type { Json } from '../shared/json.js';
import { chartOf, distance, isOnMap, numberOfTile, type Placed } from './chart.js';
import { entitiesOf } from './sight.js';
import { enter, isDown, isInPlace, isOver, isShut, newsOf, NPC_HITS, shortId, type World } from './world.js';

/** Why the world does not let something happen. */
export type WorldRefusal =
  | 'ACTION_TYPE_MISSING'
  | 'ACTION_TYPE_INVALID'
  | 'ACTION_UNKNOWN'
  | 'RUN_OVER'
  | 'TARGET_MISSING'
  | 'TARGET_UNKNOWN'
  | 'TARGET_UNFIT'
  | 'TARGET_DOWN'
  | 'TOO_FAR'
  | 'OFF_THE_MAP'
  | 'WALL_IN_THE_WAY'
  | 'DOOR_SHUT'
  | 'DOOR_LOCKED'
  | 'DOOR_OPEN'
  | 'ITEM_MISSING'
  | 'ITEM_NOT_HELD'
  | 'ITEM_UNFIT'
  | 'NOT_HURT';

/** What became of an action. `heardBy`: the NPC that was spoken to, by its id. */
export type Outcome =
  | { readonly ok: true; readonly happened: readonly string[]; readonly heardBy?: string }
  | { readonly ok: false; readonly code: WorldRefusal; readonly reason: string };

type Deed = { readonly world: World; readonly heardBy?: string };
type Refused = Extract<Outcome, { ok: false }>;

/** How far words carry, in moves, walls or not. */
export const EARSHOT_TILES = 3;

const refuse = (code: WorldRefusal, reason: string): Refused => ({ ok: false, code, reason });
const deed = (world: World, change: Partial<World>, ...news: readonly string[]): Deed => ({
  world: { ...world, ...change, news: newsOf(news) },
});

/** The thing that an action is about, where it can be reached; or why not. */
const targetOf = (level: Level, world: World, { target = '' }: Action, tiles = 1): Placed | Refused => {
  if (target === '') return refuse('TARGET_MISSING', 'It does not say with what or whom.');
  const placed = chartOf(level).byId.get(target);
  if (placed === undefined || !isInPlace(world, placed)) {
    return refuse('TARGET_UNKNOWN', `There is no ${shortId(target)} here.`);
  }
  return distance(world.at, placed.at) <= tiles
    ? placed
    : refuse('TOO_FAR', `The ${placed.kind} ${shortId(target)} is too far away.`);
};

const destinationOf = (level: Level, world: World, action: Action): Tile | Refused => {
  const point = pointOf(action);
  if (point !== undefined) {
    if (isOnMap(level, point)) return { x: point.x, y: point.y };
    return refuse('OFF_THE_MAP', 'That place is not on the map.');
  }
  const placed = targetOf(level, world, action);
  return 'ok' in placed ? placed : placed.at;
};

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

const openDoor = (level: Level, world: World, door: number): Deed | Refused => {
  const { id, locked } = level.doors[door] ?? { id: '', locked: true };
  if (world.opened.includes(door)) return refuse('DOOR_OPEN', `The door ${shortId(id)} is open already.`);
  if (locked) return refuse('DOOR_LOCKED', `The door ${shortId(id)} is locked.`);
  return deed(world, { opened: [...world.opened, door] }, `You open the door ${shortId(id)}.`);
};

const interact = (level: Level, world: World, action: Action): Deed | Refused => {
  const target = targetOf(level, world, action);
  if ('ok' in target) return target;
  const { kind, position } = target;
  const name = shortId(target.id);
  switch (kind) {
    case 'item':
      return deed(world, { held: [...world.held, position] }, `You take the item ${name}.`);
    case 'door':
      return openDoor(level, world, position);
    case 'goal': {
      const reached = world.reached.includes(position) ? world.reached : [...world.reached, position];
      return deed(world, { reached }, `You reach the goal ${name}.`);
    }
    case 'npc':
      return isDown(world, position)
        ? refuse('TARGET_DOWN', `${name} is down.`)
        : deed(world, {}, `${name} takes notice of you.`);
    case 'hazard':
      return refuse('TARGET_UNFIT', `Nothing can be done with the hazard ${name}.`);
  }
};

/** The world after an item was used: some are gone then. */
const used = ({ held, spent }: World, item: number, { consumed }: Item): Partial<World> =>
  consumed ? { held: held.filter((one) => one !== item), spent: [...spent, item] } : {};

const heal = (level: Level, world: World, item: number, it: Item): Deed | Refused => {
  const name = shortId(it.id);
  if (it.heals <= 0)
    return refuse(it.opens.length > 0 ? 'TARGET_MISSING' : 'ITEM_UNFIT', `The item ${name} does nothing by itself.`);
  if (world.hp >= level.hp) return refuse('NOT_HURT', 'You are not hurt.');
  const hp = Math.min(level.hp, world.hp + it.heals);
  return deed(world, { ...used(world, item, it), hp }, `You use the item ${name} and have ${hp} hit points.`);
};

const use = (level: Level, world: World, action: Action): Deed | Refused => {
  const [name, second] = itemsOf(action, { entities: entitiesOf(level, world) }) ?? [];
  if (name === undefined) return refuse('ITEM_MISSING', 'It does not say which item to use.');
  if (second !== undefined) return refuse('ITEM_UNFIT', 'One item is used at a time.');
  const placed = chartOf(level).byId.get(name);
  const it = placed?.kind === 'item' ? level.items[placed.position] : undefined;
  if (placed === undefined || it === undefined || !world.held.includes(placed.position)) {
    return refuse('ITEM_NOT_HELD', `You do not have ${shortId(name)}.`);
  }
  const item = placed.position;
  if ((action.target ?? '') === '' || action.target === name) return heal(level, world, item, it);
  const target = targetOf(level, world, action);
  if ('ok' in target) return target;
  if (target.kind !== 'door') return refuse('TARGET_UNFIT', `The ${target.kind} ${shortId(target.id)} takes no item.`);
  if (world.opened.includes(target.position))
    return refuse('DOOR_OPEN', `The door ${shortId(target.id)} is open already.`);
  if (!it.opens.includes(target.id)) {
    return refuse('ITEM_UNFIT', `The item ${shortId(name)} does not open the door ${shortId(target.id)}.`);
  }
  const opened = [...world.opened, target.position];
  return deed(
    world,
    { ...used(world, item, it), opened },
    `You open the door ${shortId(target.id)} with ${shortId(name)}.`,
  );
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

/** The types of action that this world knows. */
export const WORLD_ACTIONS: readonly string[] = [...deeds.keys()];

const judge = (level: Level, world: World, value: Json): Deed | Refused => {
  if (isOver(world)) return refuse('RUN_OVER', 'You have no hit points left.');
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
