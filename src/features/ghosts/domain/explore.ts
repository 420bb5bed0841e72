import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { bitmapHas } from './bitmap.js';
import { chartOf, neighboursOf, numberOfTile, type Placed } from './chart.js';
import { findPath } from './find-path.js';
import { proceed, settlePlan } from './journey.js';
import { beginPlan, IDLE, textOf, type Plan, type Policy, type Task } from './policy.js';
import { isInPlace, type World } from './world.js';

/** How often failed tasks are retried before the policy has nothing left to do. */
const FORGIVEN = 2;

/** The item that the ghost should use on a door; null if it opens without one, undefined if it cannot be opened now. */
const keyFor = (level: Level, world: World, door: number, likes: Taste): number | null | undefined => {
  if (level.doors[door]?.locked === false) return likes(door, null) ? null : undefined;
  const { opens } = chartOf(level);
  return world.held.find((item) => opens[item]?.includes(door) === true && likes(door, item));
};

/** Opens a door that may have a lock. */
export const openingTask = (level: Level, door: number, item: number | null): Task => {
  const target = level.doors[door]?.id ?? '';
  const about = `d${door}:${item ?? ''}`;
  return item === null
    ? { about, action: { type: 'INTERACT', target } }
    : { about, action: { type: 'USE', target, payload: { item: level.items[item]?.id ?? '' } } };
};

export const touchingTask = ({ kind, position, id }: Placed): Task => ({
  about: `${kind}${position}`,
  action: { type: 'INTERACT', target: id },
});

/** Whether a ghost would open a door with an item. */
export type Taste = (door: number, item: number | null) => boolean;
const anything: Taste = () => true;

/** What an exploring ghost does with an object: takes items and opens doors; undefined for nothing. */
const taskWith = (level: Level, world: World, plan: Plan, placed: Placed, likes: Taste): Task | undefined => {
  if (!isInPlace(world, placed)) return undefined;
  let task: Task | undefined;
  if (placed.kind === 'item') task = touchingTask(placed);
  if (placed.kind === 'door' && !world.opened.includes(placed.position)) {
    const item = keyFor(level, world, placed.position, likes);
    if (item !== undefined) task = openingTask(level, placed.position, item);
  }
  return task === undefined || plan.tried.includes(task.about) ? undefined : task;
};

/** Uses a healing item when half of the hit points are gone. */
export const healingTask = (level: Level, world: World, plan: Plan): Task | undefined => {
  if (world.hp * 2 > level.hp) return undefined;
  const item = world.held.find((one) => (level.items[one]?.heals ?? 0) > 0 && !plan.tried.includes(`h${one}`));
  if (item === undefined) return undefined;
  return { about: `h${item}`, action: { type: 'USE', payload: { item: level.items[item]?.id ?? '' } } };
};

/** The objects that have a task, by the tiles from which it can be done. */
const workplaces = (level: Level, world: World, plan: Plan, likes: Taste): ReadonlyMap<number, Task> => {
  const chart = chartOf(level);
  const found = new Map<number, Task>();
  for (const placed of chart.byId.values()) {
    if (placed.kind !== 'item' && placed.kind !== 'door') continue;
    const task = taskWith(level, world, plan, placed, likes);
    if (task === undefined) continue;
    const tile = numberOfTile(level, placed.at);
    for (const place of [tile, ...neighboursOf(chart, tile)]) found.set(place, task);
  }
  return found;
};

/**
 * Frontier exploration (Yamauchi 1997): the nearest tile that was never entered, or from which something can be taken or opened.
 * @param tasteOf called only when something is planned
 */
export const planExploring = (level: Level, world: World, plan: Plan, tasteOf: () => Taste = () => anything): Plan => {
  if (plan.stuck) return plan;
  const here = numberOfTile(level, world.at);
  const places = workplaces(level, world, plan, tasteOf());
  const task = healingTask(level, world, plan) ?? places.get(here);
  if (task !== undefined) return { ...plan, path: '', task };
  const accepts = (tile: number): boolean => tile !== here && (!bitmapHas(world.visited, tile) || places.has(tile));
  const path = findPath(level, world, { accepts, shunned: plan.shunned });
  if (path !== null) return { ...plan, path, task: null };
  const nothing = { ...plan, path: '', task: null, shunned: [], tried: [] };
  return plan.forgiven < FORGIVEN && plan.shunned.length + plan.tried.length > 0
    ? planExploring(level, world, { ...nothing, forgiven: plan.forgiven + 1 }, tasteOf)
    : { ...nothing, stuck: true };
};

/** The next step of a ghost that explores all of a level; null if nothing is left. */
export const exploringStep = (
  level: Level,
  world: World,
  plan: Plan,
  tasteOf?: () => Taste,
): { readonly plan: Plan; readonly action: JsonObject | null } => {
  const next = proceed(level, world, plan);
  if (next !== null) return next;
  const planned = planExploring(level, world, plan, tasteOf);
  return proceed(level, world, planned) ?? { plan: planned, action: null };
};

/** Plays `maximize_exploration`: enters every reachable tile, takes every item and opens every door. */
export const exploration: Policy = {
  begin: beginPlan,
  next(level, world, before, last) {
    const { plan, action } = exploringStep(level, world, settlePlan(level, world, before, last));
    return { plan, text: textOf(action ?? IDLE), kind: action === null ? 'wait' : 'explore' };
  },
};
