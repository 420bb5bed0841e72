import type { Level, Tile } from '../../levels/domain/level.js';
import { cutText } from '../../../kernel/base/text.js';
import { bitmapHas, bitmapWith, emptyBitmap } from './bitmap.js';
import { chartOf, isOnMap, numberOfTile, type Placed } from './chart.js';

/**
 * The state of a level while a ghost plays it: plain JSON of bounded size, because it is part of a checkpoint. Objects are named by their positions
 * in the level's lists.
 */
export type World = {
  readonly at: Tile;
  readonly hp: number;
  /** Items that the ghost holds, in the order in which it took them. */
  readonly held: readonly number[];
  /** Items that are used up. */
  readonly spent: readonly number[];
  readonly opened: readonly number[];
  readonly reached: readonly number[];
  /** Triggers that were observed at least once. */
  readonly noticed: readonly number[];
  /** By NPC: how often it was hit. */
  readonly hits: readonly number[];
  /** The tiles that were entered (bitmap.ts), and their number. */
  readonly visited: string;
  readonly entered: number;
  /** The effect of the last step: the sentences at the beginning of the next observation. */
  readonly news: readonly string[];
};

/** How many sentences describe one step, and the limit of each, in UTF-16 units. */
const SENTENCES = 16;
const SENTENCE_CHARS = 300;
/** How much of an id a sentence shows, in UTF-16 units. */
const ID_CHARS = 64;
/** The number of hits after which an NPC is down. */
export const NPC_HITS = 3;

export const shortId = (id: string): string => cutText(id, ID_CHARS);
/** Sentences about a step, truncated to the number and length that a world keeps. */
export const newsOf = (sentences: readonly string[]): readonly string[] =>
  sentences.slice(0, SENTENCES).map((sentence) => cutText(sentence, SENTENCE_CHARS));

/** Whether a door of the tile is shut. */
export const isShut = (level: Level, { opened }: World, tile: number): boolean =>
  chartOf(level)
    .doors.get(tile)
    ?.some((door) => !opened.includes(door)) === true;

/** Whether the ghost may be on a tile: it has no wall and no shut door. `tile` must be on the map. */
export const isEnterable = (level: Level, world: World, tile: number): boolean =>
  chartOf(level).walls[tile] === 0 && !isShut(level, world, tile);

/** Whether an object is still where the level put it: items that were taken are not. */
export const isInPlace = ({ held, spent }: World, { kind, position }: Placed): boolean =>
  kind !== 'item' || !(held.includes(position) || spent.includes(position));

export const isDown = ({ hits }: World, npc: number): boolean => (hits[npc] ?? 0) >= NPC_HITS;

/** Whether the run is over: the ghost has no hit points left. */
export const isRunOver = ({ hp }: World): boolean => hp <= 0;

const triggersAt = (level: Level, world: World, { x, y }: Tile): readonly number[] =>
  level.triggers.flatMap(({ from, to, once }, trigger) => {
    const within = x >= from.x && x <= to.x && y >= from.y && y <= to.y;
    return within && !(once && world.noticed.includes(trigger)) ? [trigger] : [];
  });

/** The effects of being on a tile: it counts as visited, its goals are reached, its triggers observed. */
const arrive = (level: Level, world: World, at: Tile): World => {
  const tile = numberOfTile(level, at);
  const visitedBefore = bitmapHas(world.visited, tile);
  const goals = level.goals.flatMap((goal, position) =>
    goal.at.x === at.x && goal.at.y === at.y && !world.reached.includes(position) ? [position] : [],
  );
  const triggers = triggersAt(level, world, at);
  return {
    ...world,
    at,
    visited: visitedBefore ? world.visited : bitmapWith(world.visited, tile),
    entered: world.entered + (visitedBefore ? 0 : 1),
    reached: goals.length === 0 ? world.reached : [...world.reached, ...goals],
    noticed: triggers.length === 0 ? world.noticed : [...new Set([...world.noticed, ...triggers])],
    news: newsOf([
      ...world.news,
      ...goals.map((goal) => `You reach the goal ${shortId(level.goals[goal]?.id ?? '')}.`),
      ...triggers.map((trigger) => level.triggers[trigger]?.text ?? ''),
    ]),
  };
};

/** The ghost enters a free tile, and hazards on it harm it, at most down to no hit points. */
export const enter = (level: Level, world: World, at: Tile): World => {
  const harm = chartOf(level).harms.get(numberOfTile(level, at)) ?? 0;
  const moved = { ...world, hp: Math.max(0, world.hp - harm), news: [`You move to (${at.x}, ${at.y}).`] };
  const there = arrive(level, moved, at);
  if (harm <= 0) return there;
  const hurt = `It harms you: you lose ${harm} hit points${isRunOver(there) ? ' and have none left' : ''}.`;
  return { ...there, news: newsOf([...there.news.slice(0, 1), hurt, ...there.news.slice(1)]) };
};

/** The world before the first step: the ghost is at the spawn, whose hazards harm it only if it comes back. */
export const beginWorld = (level: Level): World =>
  arrive(
    level,
    {
      at: level.spawn,
      hp: level.hp,
      held: [],
      spent: [],
      opened: [],
      reached: [],
      noticed: [],
      hits: level.npcs.map(() => 0),
      visited: emptyBitmap(level.width * level.height),
      entered: 0,
      news: [],
    },
    level.spawn,
  );

/** How far the ghost sees, in moves, through walls or not. */
export const SIGHT_TILES = 5;
/** How many objects it sees at most, the nearest ones. */
const SEEN_THINGS = 40;

/** The objects within sight that are still in position: nearest first, then row by row. */
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

/** The `worldState.entities`: the objects within sight, by id. */
export const entitiesOf = (level: Level, world: World): readonly string[] =>
  thingsInSight(level, world).map(({ id }) => id);
