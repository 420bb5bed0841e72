import type { GhostContext, NpcAction } from '../../src/body/protocol.js';
import { type Place, type Thing, type Tile, tileKey } from './tiled-map.js';

/** The state of the game. It follows from the map and the actions so far, and from nothing else: that is why nothing needs to be saved. */
export type World = {
  readonly steps: number;
  readonly at: Tile;
  readonly hp: number;
  readonly inventory: readonly string[];
  /** Items that were taken, doors that were opened, and goals that were reached, by their names. */
  readonly taken: readonly string[];
  readonly opened: readonly string[];
  readonly reached: readonly string[];
  readonly seen: ReadonlySet<string>;
};

export type Outcome = NonNullable<GhostContext['outcome']>;
type Happened = { readonly world: World; readonly outcome: Outcome };

export const beginWorld = ({ spawn, hp }: Place): World => ({
  ...{ steps: 0, at: { x: spawn.x, y: spawn.y }, hp, inventory: [], taken: [], opened: [], reached: [] },
  seen: new Set([tileKey(spawn)]),
});

const no = (world: World, code: string, reason: string): Happened => ({
  world,
  outcome: { ok: false, code, reason },
});
const yes = (world: World): Happened => ({ world, outcome: { ok: true } });

export const thingsAt = ({ things }: Place, tile: Tile): readonly Thing[] =>
  things.filter(({ x, y }) => x === tile.x && y === tile.y);
export const isNear = (one: Tile, other: Tile): boolean => Math.abs(one.x - other.x) + Math.abs(one.y - other.y) <= 1;
const isShut = ({ opened }: World, { kind, name }: Thing): boolean => kind === 'door' && !opened.includes(name);

/** Whether the ghost can stand there. */
export const isFree = (place: Place, world: World, tile: Tile): boolean =>
  !place.walls.has(tileKey(tile)) && !thingsAt(place, tile).some((thing) => isShut(world, thing));

/** What entering a tile costs in hit points. */
export const harmAt = (place: Place, tile: Tile): number =>
  thingsAt(place, tile)
    .filter(({ kind }) => kind === 'hazard')
    .reduce((sum, { properties }) => sum + Number(properties.get('harm') ?? 10), 0);

const move = (place: Place, world: World, { payload }: NpcAction): Happened => {
  const { x, y } = (payload ?? {}) as Partial<Tile>;
  if (typeof x !== 'number' || typeof y !== 'number') return no(world, 'NOWHERE', 'A move needs x and y.');
  const to = { x, y };
  if (!isNear(world.at, to)) return no(world, 'TOO_FAR', 'One step at a time.');
  if (place.walls.has(tileKey(to))) return no(world, 'WALL', 'There is a wall.');
  if (!isFree(place, world, to)) return no(world, 'SHUT', 'It is shut.');
  const goals = thingsAt(place, to).filter(({ kind, name }) => kind === 'goal' && !world.reached.includes(name));
  return yes({
    ...world,
    at: to,
    hp: world.hp - harmAt(place, to),
    reached: [...world.reached, ...goals.map(({ name }) => name)],
    seen: new Set([...world.seen, tileKey(to)]),
  });
};

const interact = (place: Place, world: World, { target }: NpcAction): Happened => {
  const thing = place.things.find(({ name }) => name === target);
  if (thing === undefined || world.taken.includes(thing.name)) return no(world, 'NOT_THERE', 'There is no such thing.');
  if (!isNear(world.at, thing)) return no(world, 'TOO_FAR', 'It is out of reach.');
  if (thing.kind === 'item')
    return yes({ ...world, inventory: [...world.inventory, thing.name], taken: [...world.taken, thing.name] });
  if (thing.kind !== 'door') return no(world, 'USELESS', 'Nothing happens.');
  const key = place.things.find(
    ({ name, properties }) => world.inventory.includes(name) && properties.get('opens') === thing.name,
  );
  if (thing.properties.get('locked') === true && key === undefined) return no(world, 'LOCKED', 'It is locked.');
  return yes({
    ...world,
    opened: [...world.opened, thing.name],
    inventory: world.inventory.filter((name) => name !== key?.name),
  });
};

const eat = (place: Place, world: World, { target }: NpcAction): Happened => {
  const food = place.things.find(({ name }) => name === target && world.inventory.includes(name));
  const heals = Number(food?.properties.get('heals') ?? 0);
  if (food === undefined || heals <= 0) return no(world, 'NO_FOOD', 'That is nothing to eat.');
  const hp = Math.min(place.hp, world.hp + heals);
  return yes({ ...world, hp, inventory: world.inventory.filter((name) => name !== food.name) });
};

/** What an action that the mind allowed does in the game: its own rules, not the server's. */
export const act = (place: Place, world: World, action: NpcAction): Happened => {
  switch (action.type) {
    case 'MOVE':
      return move(place, world, action);
    case 'INTERACT':
      return interact(place, world, action);
    case 'EAT':
      return eat(place, world, action);
    case 'SPEAK':
    case 'IDLE':
      return yes(world);
    default:
      return no(world, 'UNKNOWN', `Nobody here knows how to ${action.type}.`);
  }
};
