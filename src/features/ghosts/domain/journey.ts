import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { chartOf, DIRECTIONS, numberOfTile, tileOfNumber } from './chart.js';
import { REMEMBERED, type LastStep, type Plan } from './policy.js';
import type { World } from './world.js';

const remember = <Value>(values: readonly Value[], value: Value): readonly Value[] =>
  [...values, value].slice(-REMEMBERED);

/** Actions that may have opened new paths. */
const OPENS: ReadonlySet<string> = new Set(['INTERACT', 'USE']);

/** The plan after the last step: failures are remembered, and a path that the ghost has left is dropped. */
export const settlePlan = (level: Level, world: World, plan: Plan, last: LastStep | null): Plan => {
  const at = numberOfTile(level, world.at);
  const done = last?.valid === true && last.outcome?.ok === true;
  const stuck = plan.stuck && !(done && OPENS.has(last.action?.type ?? ''));
  const settled = { ...plan, at, asked: null, stuck };
  if (plan.asked === 'task') {
    const tried = done || plan.task === null ? plan.tried : remember(plan.tried, plan.task.about);
    return { ...settled, task: null, tried };
  }
  if (at === plan.at) return settled;
  const shunned = plan.asked === 'move' ? remember(plan.shunned, plan.at) : plan.shunned;
  return { ...settled, path: '', task: null, shunned };
};

/** The next step of a plan, null if it has none: along its path, then its task. A step that would kill is not taken. */
export const proceed = (
  level: Level,
  world: World,
  plan: Plan,
): { readonly plan: Plan; readonly action: JsonObject } | null => {
  const way = DIRECTIONS.find(({ name }) => name === plan.path[0]);
  if (way === undefined) {
    return plan.task === null ? null : { plan: { ...plan, asked: 'task' }, action: plan.task.action };
  }
  const at = plan.at + way.y * level.width + way.x;
  if ((chartOf(level).harms.get(at) ?? 0) >= world.hp) return null;
  const { x, y } = tileOfNumber(level, at);
  return {
    plan: { ...plan, path: plan.path.slice(1), at, asked: 'move' },
    action: { type: 'MOVE', payload: { x, y } },
  };
};
