import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level } from '../../levels/domain/level.js';
import { chartOf, distance, type Placed } from './chart.js';
import { isInPlace, newsOf, shortId, type World } from './world.js';

/** Why the world refuses an action. */
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

/** The outcome of an action. `heardBy`: the id of the NPC that was spoken to. */
export type Outcome =
  | { readonly ok: true; readonly happened: readonly string[]; readonly heardBy?: string }
  | { readonly ok: false; readonly code: WorldRefusal; readonly reason: string };

/** The world after an action. */
export type Deed = { readonly world: World; readonly heardBy?: string };
export type Refused = Extract<Outcome, { ok: false }>;

export const refuse = (code: WorldRefusal, reason: string): Refused => ({ ok: false, code, reason });
export const deed = (world: World, change: Partial<World>, ...news: readonly string[]): Deed => ({
  world: { ...world, ...change, news: newsOf(news) },
});

/** The object that an action is about, if it is in reach; otherwise the reason. */
export const targetOf = (level: Level, world: World, { target = '' }: Action, tiles = 1): Placed | Refused => {
  if (target === '') return refuse('TARGET_MISSING', 'The action has no target.');
  const placed = chartOf(level).byId.get(target);
  if (placed === undefined || !isInPlace(world, placed)) {
    return refuse('TARGET_UNKNOWN', `Nothing here is named ${shortId(target)}.`);
  }
  return distance(world.at, placed.at) <= tiles
    ? placed
    : refuse('TOO_FAR', `The ${placed.kind} ${shortId(target)} is too far away.`);
};
