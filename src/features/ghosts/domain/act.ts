import { type Action, readAction } from '../../rules/domain/bridge/action.js';
import { itemsOf, type Point, pointOf } from '../../rules/domain/bridge/world.js';
import type { Level, Tile } from '../../levels/domain/level.js';
import type { Json } from '../../../kernel/base/json.js';
import { chartOf, DIRECTIONS, distance, isOnMap, numberOfTile, type Placed } from './chart.js';
import { deed, type Deed, type Outcome, refuse, type Refused, targetOf } from './deed.js';
import { enter, entitiesOf, isDown, isRunOver, isShut, newsOf, NPC_HITS, shortId, type World } from './world.js';

/** How far speech carries, in moves, through walls or not. */
export const EARSHOT_TILES = 3;

const PAIR = /^\(?(-?\d{1,9}), ?(-?\d{1,9})\)?$/;

/** The tile that a text names: a direction, or x and y separated by a comma. The form of a prompt's answer has no other member for it. */
const tileIn = (text: string, at: Tile): Point | undefined => {
  const way = DIRECTIONS.find(({ word }) => word === text.toLowerCase());
  if (way !== undefined) return { x: at.x + way.x, y: at.y + way.y };
  const [, x, y] = PAIR.exec(text) ?? [];
  return x === undefined || y === undefined ? undefined : { x: Number(x), y: Number(y) };
};

/** The destination of a move: numeric x and y, an object of the level, or a direction. Objects may have any name, so they come first. */
const destinationOf = (level: Level, world: World, action: Action): Tile | Refused => {
  const { target = '' } = action;
  const point = pointOf(action) ?? (chartOf(level).byId.has(target) ? undefined : tileIn(target.trim(), world.at));
  if (point !== undefined) {
    // Adding zero turns -0 into 0, because JSON cannot hold -0.
    if (isOnMap(level, point)) return { x: point.x + 0, y: point.y + 0 };
    return refuse('OFF_THE_MAP', 'That position is outside the map.');
  }
  const placed = targetOf(level, world, action);
  return 'ok' in placed ? placed : placed.at;
};

const move = (level: Level, world: World, action: Action): Deed | Refused => {
  const to = destinationOf(level, world, action);
  if ('ok' in to) return to;
  if (!Number.isInteger(to.x) || !Number.isInteger(to.y) || distance(world.at, to) !== 1) {
    return refuse('TOO_FAR', 'A move can only reach one of the four neighbouring tiles.');
  }
  const tile = numberOfTile(level, to);
  if (chartOf(level).walls[tile] !== 0) return refuse('WALL_IN_THE_WAY', 'A wall is in the way.');
  if (isShut(level, world, tile)) return refuse('DOOR_SHUT', 'The door there is shut.');
  return { world: enter(level, world, to) };
};

/** An NPC that can be spoken to or attacked. */
const somebody = (level: Level, world: World, action: Action, tiles: number): Placed | Refused => {
  const target = targetOf(level, world, action, tiles);
  if ('ok' in target) return target;
  if (target.kind !== 'npc')
    return refuse('TARGET_UNFIT', `The ${target.kind} ${shortId(target.id)} is not a character.`);
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

const openDoor = (level: Level, world: World, door: number): Deed | Refused => {
  const { id, locked } = level.doors[door] ?? { id: '', locked: true };
  if (world.opened.includes(door)) return refuse('DOOR_OPEN', `The door ${shortId(id)} is already open.`);
  if (locked) return refuse('DOOR_LOCKED', `The door ${shortId(id)} is locked.`);
  return deed(world, { opened: [...world.opened, door] }, `You open the door ${shortId(id)}.`);
};

/** Takes an item, opens a door, or touches a goal. */
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
        : deed(world, {}, `${name} notices you.`);
    case 'hazard':
      return refuse('TARGET_UNFIT', `Nothing can be done with the hazard ${name}.`);
  }
};

type LevelItem = Level['items'][number];

/** The world after an item was used: consumed items are gone. */
const used = ({ held, spent }: World, item: number, { consumed }: LevelItem): Partial<World> =>
  consumed ? { held: held.filter((one) => one !== item), spent: [...spent, item] } : {};

const heal = (level: Level, world: World, item: number, it: LevelItem): Deed | Refused => {
  const name = shortId(it.id);
  if (it.heals <= 0)
    return refuse(it.opens.length > 0 ? 'TARGET_MISSING' : 'ITEM_UNFIT', `The item ${name} has no effect on its own.`);
  if (world.hp >= level.hp) return refuse('NOT_HURT', 'You are not hurt.');
  const hp = Math.min(level.hp, world.hp + it.heals);
  return deed(world, { ...used(world, item, it), hp }, `You use the item ${name} and have ${hp} hit points.`);
};

/** The held item that opens the door of an action: an action that names only the door means that item. */
const keyFor = (level: Level, { held }: World, { target = '' }: Action): string | undefined =>
  held.flatMap((item) => level.items[item] ?? []).find(({ opens }) => opens.includes(target))?.id;

/** Uses a held item: on a door, or to heal. */
const use = (level: Level, world: World, action: Action): Deed | Refused => {
  const [name = keyFor(level, world, action), second] = itemsOf(action, { entities: entitiesOf(level, world) }) ?? [];
  if (name === undefined) {
    const { kind, id } = chartOf(level).byId.get(action.target ?? '') ?? {};
    const reason = `You have nothing that opens the door ${shortId(id ?? '')}.`;
    return refuse('ITEM_MISSING', kind === 'door' ? reason : 'The action does not say which item to use.');
  }
  if (second !== undefined) return refuse('ITEM_UNFIT', 'Only one item can be used at a time.');
  const placed = chartOf(level).byId.get(name);
  const it = placed?.kind === 'item' ? level.items[placed.position] : undefined;
  if (placed === undefined || it === undefined || !world.held.includes(placed.position)) {
    return refuse('ITEM_NOT_HELD', `You do not have ${shortId(name)}.`);
  }
  const item = placed.position;
  if ((action.target ?? '') === '' || action.target === name) return heal(level, world, item, it);
  const target = targetOf(level, world, action);
  if ('ok' in target) return target;
  if (target.kind !== 'door')
    return refuse('TARGET_UNFIT', `No item can be used on the ${target.kind} ${shortId(target.id)}.`);
  if (world.opened.includes(target.position))
    return refuse('DOOR_OPEN', `The door ${shortId(target.id)} is already open.`);
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
    doing?.(level, world, read.action) ??
    refuse('ACTION_UNKNOWN', `This world has no action ${shortId(read.action.type)}.`)
  );
};

/**
 * The effect of an action on the world, or why it has none. Total: whatever the action contains, it never throws. After a refusal the world only
 * keeps the news for the ghost.
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

/** The world after a step in which the mind refused the ghost's action; the next observation gives the reason. */
export const heldBack = (world: World, reason: string): World => ({
  ...world,
  news: newsOf([`You hold back. ${reason}`]),
});
