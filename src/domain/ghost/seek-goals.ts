import type { Level, Tile } from '../level/level.js';
import { distance, isInReach, numberOfTile, tileOfNumber } from './chart.js';
import { healingTask, openingTask, planExploring, touchingTask } from './explore.js';
import { findPath } from './find-path.js';
import { proceed, settlePlan } from './journey.js';
import { prospectOf } from './next-opening.js';
import { beginPlan, IDLE, textOf, type Plan, type Policy, type Task } from './policy.js';
import { isEnterable, type World } from './world.js';

/** To where something can be done with a thing; null when there is no way, or when it failed before. */
const planTask = (level: Level, world: World, plan: Plan, at: Tile, task: Task): Plan | null => {
  if (plan.tried.includes(task.about)) return null;
  const accepts = (tile: number): boolean => isInReach(tileOfNumber(level, tile), at);
  const path = findPath(level, world, { accepts, towards: at, shunned: plan.shunned });
  return path === null ? null : { ...plan, path, task };
};

/** To a goal: onto its tile, or next to it where nobody can stand on it. */
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

/** The nearest goal as the crow flies to which a way is open, else the next door on the way to one; null when no goal is left. */
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
  // Who sees no way to a goal looks around, because some ways open only to who tries.
  return planned ?? planExploring(level, world, { ...plan, vain: situation });
};

/** Plays `complete_level`: goes to one goal after the other, and fetches what opens the doors in the way. */
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
