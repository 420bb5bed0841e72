import type { Level, Tile } from '../../levels/domain/level.js';
import { distance, isInReach, numberOfTile, tileOfNumber } from './chart.js';
import { type DoorOpening, startsOf } from './closure.js';
import { healingTask, openingTask, planExploring, touchingTask } from './explore.js';
import { findPath } from './find-path.js';
import { proceed, settlePlan } from './journey.js';
import { beginPlan, IDLE, type Plan, type Policy, type Task, textOf } from './policy.js';
import { departureOf, REACH_LOOKS, searchReach } from './reach.js';
import { type Manner, type Regions, regionsAround, regionsOf } from './regions.js';
import { isEnterable, type World } from './world.js';

/** A plan to go where an object has a task; null if there is no path, or if it failed before. */
const planTask = (level: Level, world: World, plan: Plan, at: Tile, task: Task): Plan | null => {
  if (plan.tried.includes(task.about)) return null;
  const accepts = (tile: number): boolean => isInReach(tileOfNumber(level, tile), at);
  const path = findPath(level, world, { accepts, towards: at, shunned: plan.shunned });
  return path === null ? null : { ...plan, path, task };
};

/** A plan to go to a goal: onto its tile, or next to it if no one can stand on it. */
const planGoal = (level: Level, world: World, plan: Plan, position: number): Plan | null => {
  const goal = level.goals[position];
  if (goal === undefined) return null;
  const { at, id } = goal;
  const tile = numberOfTile(level, at);
  if (!isEnterable(level, world, tile)) {
    return planTask(level, world, plan, at, touchingTask({ kind: 'goal', position, id, at }));
  }
  const path = findPath(level, world, { accepts: (one) => one === tile, towards: at, shunned: plan.shunned });
  return path === null ? null : { ...plan, path, task: null };
};

const planOpening = (level: Level, world: World, plan: Plan, door: number, item: number | null): Plan | null => {
  const key = item === null || world.held.includes(item) ? undefined : level.items[item];
  if (item !== null && key !== undefined) {
    const { id, at } = key;
    return planTask(level, world, plan, at, touchingTask({ kind: 'item', position: item, id, at }));
  }
  const { at } = level.doors[door] ?? world;
  return planTask(level, world, plan, at, openingTask(level, door, item));
};

/** The options of a ghost that looks for goals. */
type Prospect = {
  /** Goals that are not reached yet and need no door to be opened, by position. */
  readonly goals: readonly number[];
  /** Otherwise the first door to open on the way to one, and its item; null if no goal can be reached any longer. */
  readonly opening: DoorOpening | null;
};

type Route = { readonly regions: Regions; readonly starts: readonly number[] };

/** The doors on the way to the nearest of some regions, through doors that are open; null if there is no way. */
const doorsOnTheWay = (
  { regions, starts }: Route,
  to: ReadonlySet<number>,
  isOpen: (door: number) => boolean,
): readonly number[] | null => {
  /** By region: 0 if not visited, 1 at a start, otherwise the previous region plus 2. */
  const from = new Int32Array(regions.count);
  for (const start of starts) from[start] = 1;
  const waiting = [...starts];
  for (const region of waiting) {
    if (to.has(region)) {
      const doors: number[] = [];
      for (let at = region; at >= 0; at = (from[at] ?? 0) - 2) doors.push(...(regions.doors[at] ?? []));
      return doors;
    }
    for (const next of regions.links[region] ?? []) {
      if (from[next] !== 0 || !(regions.doors[next] ?? []).every(isOpen)) continue;
      from[next] = region + 2;
      waiting.push(next);
    }
  }
  return null;
};

/** The first of some openings that a goal needs. Each may depend on earlier ones: to get to its door, and to its item. */
const firstNeeded = (
  level: Level,
  world: World,
  manner: Manner,
  goal: number,
  openings: readonly DoorOpening[],
): DoorOpening | null => {
  const regions = regionsOf(level, manner);
  const { of } = regions;
  const around = (thing: { readonly at: World['at'] } | undefined): ReadonlySet<number> =>
    new Set(thing === undefined ? [] : regionsAround(level, of, thing.at));
  const route: Route = { regions, starts: startsOf(level, regions, world.at, new Set(world.opened)) };
  const needed = new Set<number>();
  /** By door: after how many openings it is open. */
  const turns = new Map(openings.map(({ door }, index) => [door, index + 1]));
  for (const door of world.opened) turns.set(door, 0);
  const need = (to: ReadonlySet<number>, before: number): void => {
    const isOpen = (door: number): boolean => (turns.get(door) ?? Infinity) <= before;
    for (const door of doorsOnTheWay(route, to, isOpen) ?? []) if (turns.get(door) !== 0) needed.add(door);
  };
  need(around(level.goals[goal]), openings.length);
  let first: DoorOpening | null = null;
  for (let index = openings.length - 1; index >= 0; index -= 1) {
    const opening = openings[index];
    if (opening === undefined || !needed.has(opening.door)) continue;
    first = opening;
    need(around(level.doors[opening.door]), index);
    if (opening.item !== null && !world.held.includes(opening.item)) need(around(level.items[opening.item]), index);
  }
  return first;
};

/** The goals that can be reached through everything that is open now. */
const goalsInTheOpen = (level: Level, world: World, manner: Manner): ReadonlySet<number> => {
  const regions = regionsOf(level, manner);
  const opened = new Set(world.opened);
  const here = new Set(startsOf(level, regions, world.at, opened));
  const goals = new Set<number>();
  for (const region of here) {
    for (const goal of regions.goals[region] ?? []) goals.add(goal);
    for (const next of regions.links[region] ?? []) {
      if ((regions.doors[next] ?? []).every((door) => opened.has(door))) here.add(next);
    }
  }
  return goals;
};

/** Looks for remaining goals: avoiding hazards if possible, otherwise across them. */
const prospectOf = (level: Level, world: World): Prospect => {
  const left = (goals: ReadonlySet<number>): readonly number[] =>
    [...goals].filter((goal) => !world.reached.includes(goal));
  for (const manner of ['careful', 'bold'] as const) {
    const goals = left(goalsInTheOpen(level, world, manner));
    if (goals.length > 0) return { goals, opening: null };
    const { best } = searchReach(level, manner, departureOf(world), 'together', { left: REACH_LOOKS / 2 });
    const [goal] = left(best.goals);
    if (goal === undefined) continue;
    const opening = firstNeeded(level, world, manner, goal, best.departure.openings);
    if (opening !== null) return { goals, opening };
  }
  return { goals: [], opening: null };
};

/** The nearest goal, as the crow flies, that has an open way, otherwise the next door on the way to one; null if no goal is left. */
const planSeeking = (level: Level, world: World, plan: Plan): Plan | null => {
  const { goals, opening } = prospectOf(level, world);
  const away = (goal: number): number => distance(world.at, level.goals[goal]?.at ?? world.at);
  for (const goal of goals.toSorted((a, b) => away(a) - away(b))) {
    const planned = planGoal(level, world, plan, goal);
    if (planned !== null) return planned;
  }
  return opening === null ? null : planOpening(level, world, plan, opening.door, opening.item);
};

const replan = (level: Level, world: World, plan: Plan): Plan => {
  const healing = healingTask(level, world, plan);
  if (healing !== undefined) return { ...plan, path: '', task: healing };
  const situation = [world.opened, world.held, world.spent, world.reached].map(({ length }) => length).join(' ');
  const planned = plan.vain === situation ? null : planSeeking(level, world, plan);
  // A ghost that sees no way to a goal explores, because some ways only open when tried.
  return planned ?? planExploring(level, world, { ...plan, vain: situation });
};

/** Plays `complete_level`: goes to one goal after the other, and fetches the items for the doors in the way. */
export const goalSeeking: Policy = {
  begin: beginPlan,
  next(level, world, before, last) {
    const settled = settlePlan(level, world, before, last);
    const allReached = world.reached.length === level.goals.length;
    const going = proceed(level, world, settled);
    const plan = going === null && !allReached ? replan(level, world, settled) : settled;
    const next = going ?? proceed(level, world, plan);
    if (next === null) return { plan, text: textOf(IDLE), kind: 'wait' };
    return { plan: next.plan, text: textOf(next.action), kind: 'goal' };
  },
};
