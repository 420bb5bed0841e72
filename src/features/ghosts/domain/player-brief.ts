import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { EARSHOT_TILES } from './act.js';
import { bitmapHas } from './bitmap.js';
import { chartOf, DIRECTIONS, isOnMap, numberOfTile } from './chart.js';
import type { GhostGoal } from './policy.js';
import { isEnterable, isShut, SIGHT_TILES, type World } from './world.js';

/** The knowledge that a policy has and an engine must be given: the ghost's task, the available actions, and its surroundings. */

const TASKS: Readonly<Record<GhostGoal, string>> = {
  maximize_exploration: 'enter every tile that can be entered, take what lies around and open what opens',
  complete_level: 'reach every goal of the level, and take or open what is in the way',
  find_bugs:
    'find what is wrong with the level: explore it, and now and then try what should not work, such as walking through walls, using things where they do not belong, or wasting them',
  collect_metrics: 'do a bit of everything: explore, take and use things, speak, and attack now and then',
};

/** Without quotes and braces of JSON: a prompt puts all of it in quotes. */
const HOW = [
  'Each answer is one step with one action of a type and a target; these are the actions of this world.',
  'MOVE goes to one of the four neighbouring tiles: its target is north, south, east or west, or x and y of that tile, such as 3,4. North is y - 1, south y + 1, east x + 1, west x - 1.',
  'INTERACT needs a target on your tile or next to it: it takes an item, opens a door that has no lock, or touches a goal.',
  'USE has as its target a locked door on your tile or next to it, and opens it if you carry what fits; or something that you carry and that heals you.',
  `SPEAK has as its target a character, at most ${EARSHOT_TILES} tiles away; what you say is the dialogue.`,
  'ATTACK has as its target a character next to you. IDLE waits.',
  'Names of things are written exactly as you see them. A hazard harms you when you enter its tile.',
  'Rows of surroundings run from north to south: @ is you, X a wall, + a shut door, . a tile that you have entered, ? one that you have not. Prefer what you have not entered or tried; what failed fails again.',
].join(' ');

/** The persona of a ghost whose texts an engine produces: its task and its actions, then its role in this level. */
export const playerBrief = ({ persona }: Level, goal: GhostGoal): string =>
  `You play a level of a game to test it. Your task: ${TASKS[goal]}. ${HOW}${persona === '' ? '' : ` In this level you are: ${persona}`}`;

/** Not the sign of drawn levels: a prompt never keeps three of them in a row, because they end a message. */
const WALL = 'X';

const signOf = (level: Level, world: World, tile: number): string => {
  if (chartOf(level).walls[tile] !== 0) return WALL;
  if (isShut(level, world, tile)) return '+';
  return bitmapHas(world.visited, tile) ? '.' : '?';
};

/** The `context.surroundings` of such a ghost: the tiles in sight, row by row, and the exits of its own tile. */
export const surroundingsOf = (level: Level, world: World): JsonObject => {
  const { at } = world;
  const sight = Array.from({ length: 2 * SIGHT_TILES + 1 }, (_, index) => index - SIGHT_TILES);
  const signAt = (dx: number, dy: number): string => {
    const tile = { x: at.x + dx, y: at.y + dy };
    if (dx === 0 && dy === 0) return '@';
    return isOnMap(level, tile) ? signOf(level, world, numberOfTile(level, tile)) : WALL;
  };
  return {
    rows: sight.map((dy) => sight.map((dx) => signAt(dx, dy)).join('')),
    ways: DIRECTIONS.flatMap(({ word, x: dx, y: dy }) => {
      const to = { x: at.x + dx, y: at.y + dy };
      if (!isOnMap(level, to)) return [];
      const tile = numberOfTile(level, to);
      return isEnterable(level, world, tile) ? [{ to: word, ...to, entered: bitmapHas(world.visited, tile) }] : [];
    }),
  };
};
