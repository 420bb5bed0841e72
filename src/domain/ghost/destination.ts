import type { Action } from '../bridge/action.js';
import { pointOf, type Point } from '../bridge/world.js';
import type { Level, Tile } from '../level/level.js';
import { chartOf, DIRECTIONS, isOnMap } from './chart.js';
import { refuse, targetOf, type Refused } from './deed.js';
import type { World } from './world.js';

const PAIR = /^\(?(-?\d{1,9}), ?(-?\d{1,9})\)?$/;

/** The tile that a text names: a direction, or x and y with a comma in between. The form of a prompt's answer has no other place for it. */
const tileIn = (text: string, at: Tile): Point | undefined => {
  const way = DIRECTIONS.find(({ word }) => word === text.toLowerCase());
  if (way !== undefined) return { x: at.x + way.x, y: at.y + way.y };
  const [, x, y] = PAIR.exec(text) ?? [];
  return x === undefined || y === undefined ? undefined : { x: Number(x), y: Number(y) };
};

/** Where a move is to lead: to numbers x and y, to a thing of the level, in a direction. Things may have any name, so they come first. */
export const destinationOf = (level: Level, world: World, action: Action): Tile | Refused => {
  const { target = '' } = action;
  const point = pointOf(action) ?? (chartOf(level).byId.has(target) ? undefined : tileIn(target.trim(), world.at));
  if (point !== undefined) {
    // Adding zero makes 0 of -0, which JSON cannot hold.
    if (isOnMap(level, point)) return { x: point.x + 0, y: point.y + 0 };
    return refuse('OFF_THE_MAP', 'That place is not on the map.');
  }
  const placed = targetOf(level, world, action);
  return 'ok' in placed ? placed : placed.at;
};
