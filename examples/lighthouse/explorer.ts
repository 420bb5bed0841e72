import type { Inference } from '../../src/body/inference.js';
import type { JsonMembers } from '../../src/body/protocol.js';
import { type Place, type Tile, tileKey } from './tiled-map.js';
import { harmAt, isFree, isNear, type World } from './world.js';

/** Every so many steps the explorer tries what should not work: that is how mistakes in a level show. */
const ODD_EVERY = 9;
/** Below this it eats, and does not go through water. */
const CAREFUL_HP = 50;

const move = ({ x, y }: Tile): JsonMembers => ({ type: 'MOVE', payload: { x, y } });
const around = ({ x, y }: Tile): readonly Tile[] => [
  { x, y: y - 1 },
  { x: x + 1, y },
  { x, y: y + 1 },
  { x: x - 1, y },
];

/** The first step of a shortest way to a tile that is wanted; null when there is none. */
const stepTowards = (place: Place, world: World, isWanted: (tile: Tile) => boolean): Tile | null => {
  const known = new Set([tileKey(world.at)]);
  let edge: readonly { readonly tile: Tile; readonly first: Tile }[] = [{ tile: world.at, first: world.at }];
  while (edge.length > 0) {
    const next: { tile: Tile; first: Tile }[] = [];
    for (const { tile, first } of edge) {
      if (tile !== world.at && isWanted(tile)) return first;
      for (const neighbour of around(tile)) {
        if (known.has(tileKey(neighbour)) || !isFree(place, world, neighbour)) continue;
        if (harmAt(place, neighbour) > 0 && world.hp <= CAREFUL_HP) continue;
        known.add(tileKey(neighbour));
        next.push({ tile: neighbour, first: tile === world.at ? neighbour : first });
      }
    }
    edge = next;
  }
  return null;
};

/** What should not work: a wall, a fight. */
const oddAction = (place: Place, world: World): JsonMembers => {
  const wall = around(world.at).find((tile) => place.walls.has(tileKey(tile)));
  return wall === undefined ? { type: 'ATTACK', target: 'the dark' } : move(wall);
};

/** What the explorer does next; null when nothing is left. The same world leads to the same action. */
export const nextAction = (place: Place, world: World): JsonMembers | null => {
  if (world.hp <= 0) return null;
  const food = place.things.find(({ name, properties }) => world.inventory.includes(name) && properties.has('heals'));
  if (world.hp <= CAREFUL_HP && food !== undefined) return { type: 'EAT', target: food.name };
  const usable = place.things.find(
    (thing) =>
      isNear(world.at, thing) &&
      ((thing.kind === 'item' && !world.taken.includes(thing.name)) ||
        (thing.kind === 'door' && !world.opened.includes(thing.name) && canOpen(place, world, thing.name))),
  );
  if (usable !== undefined) return { type: 'INTERACT', target: usable.name };
  const door = place.things.find(({ kind, name }) => kind === 'door' && canOpen(place, world, name));
  const isWanted = (tile: Tile): boolean =>
    !world.seen.has(tileKey(tile)) || (door !== undefined && !world.opened.includes(door.name) && isNear(tile, door));
  const step = stepTowards(place, world, isWanted);
  if (step === null) return null;
  return world.steps % ODD_EVERY === ODD_EVERY - 1 ? oddAction(place, world) : move(step);
};

const canOpen = (place: Place, { inventory }: World, door: string): boolean => {
  const thing = place.things.find(({ kind, name }) => kind === 'door' && name === door);
  if (thing?.properties.get('locked') !== true) return true;
  return place.things.some(({ name, properties }) => inventory.includes(name) && properties.get('opens') === door);
};

/** The explorer as the model of the ghost. A studio has its language model here. */
export const createExplorer = (place: Place, worldNow: () => World): Inference => ({
  complete: () => {
    const action = nextAction(place, worldNow()) ?? { type: 'IDLE' };
    return Promise.resolve(JSON.stringify({ dialogue: '', action }));
  },
});
