import type { Level } from '../level/level.js';
import { chartOf, isOnMap, numberOfTile, type Placed } from './chart.js';
import { isInPlace, type World } from './world.js';

/** How far the ghost sees, in moves, walls or not. */
export const SIGHT_TILES = 5;
/** How many things it sees at most, the nearest ones. */
const SEEN_THINGS = 40;

/** The things within sight that are in their place: nearest first, then row by row. */
export const thingsInSight = (level: Level, world: World): readonly Placed[] => {
  const { things } = chartOf(level);
  const seen: Placed[] = [];
  for (let away = 0; away <= SIGHT_TILES && seen.length < SEEN_THINGS; away += 1) {
    for (let dy = -away; dy <= away; dy += 1) {
      const dx = away - Math.abs(dy);
      for (const x of dx === 0 ? [world.at.x] : [world.at.x - dx, world.at.x + dx]) {
        const tile = { x, y: world.at.y + dy };
        if (!isOnMap(level, tile)) continue;
        for (const placed of things.get(numberOfTile(level, tile)) ?? []) {
          if (isInPlace(world, placed)) seen.push(placed);
        }
      }
    }
  }
  return seen.slice(0, SEEN_THINGS);
};

/** What `worldState.entities` names: the things within sight, by their ids. */
export const entitiesOf = (level: Level, world: World): readonly string[] =>
  thingsInSight(level, world).map(({ id }) => id);
