import type { Level } from '../../levels/domain/level.js';
import { bitmapHas } from './bitmap.js';
import { DECISIONS_TO_JUDGE, findingsOf, type Finding } from './findings.js';
import type { GhostGoal } from './policy.js';
import { reachableTiles } from './reach.js';
import { findingKinds, type FindingKind } from './finding-kinds.js';
import { timeMetrics } from './step-times.js';
import { rulesetsOf, type Counts, type Tally } from './tally.js';
import { isRunOver, shortId, type World } from './world.js';

/** One of `resultsTests`, without its duration. */
export type GhostTest = {
  readonly testName: string;
  readonly testPassed: boolean;
  readonly testError: string | null;
  readonly testSkipped?: true;
};

/** The state of a session. */
export type SessionStanding = {
  readonly goal: GhostGoal;
  readonly over: boolean;
  /** Whether a remote game is the world. */
  readonly elsewhere?: boolean;
  /** Why some kinds of findings, and the goals, cannot be judged whatever was played. */
  readonly unjudged?: Partial<Readonly<Record<FindingKind, string>>>;
  readonly goalsUnjudged?: string;
};

const passed = (testName: string): GhostTest => ({ testName, testPassed: true, testError: null });
const failed = (testName: string, testError: string): GhostTest => ({ testName, testPassed: false, testError });
const skipped = (testName: string, testError: string): GhostTest => ({
  ...{ testName, testPassed: false, testError },
  testSkipped: true,
});

const UNSURE =
  'Whether each goal is reachable is unknown: hazards lie on the way, or there are too many ways to use up the items that open doors.';

/** Why a session could not judge a kind of finding, so that its absence proves nothing. Null if it could. */
const whyUnjudged = (level: Level, tally: Tally, over: boolean): Readonly<Record<FindingKind, string | null>> => {
  const hasRules = rulesetsOf(level).some(({ rulesetRules }) => rulesetRules.length > 0);
  const rules = hasRules ? null : 'The level has no rules.';
  const goals = level.goals.length === 0 ? 'The level has no goal.' : tally.goals.includes('unknown') ? UNSURE : null;
  const later = over ? null : 'The session is not over.';
  const steps = tally.steps > 0 ? null : 'No step was played.';
  const few = tally.decisions.some((made) => made < DECISIONS_TO_JUDGE)
    ? `Each mind with rules must make ${DECISIONS_TO_JUDGE} decisions before this can be judged.`
    : null;
  return {
    unreachable_goal: goals,
    soft_lock: goals ?? later ?? (tally.goalsNow.includes('unknown') ? UNSURE : null),
    unusable_item: level.items.length > 0 ? null : 'The level has no items.',
    mind_allowed_world_refused: steps,
    mind_refused_world_allows: steps,
    rule_never_fired: rules ?? later ?? few,
    rule_shadowed: rules,
    rules_contradict: rules,
    slow_step: tally.times === undefined ? 'No step was timed.' : null,
    engine_error: steps,
  };
};

const errorOf = ([first, ...others]: readonly Finding[]): string | null =>
  first === undefined
    ? null
    : `${first.subject}: ${first.detail}${others.length === 0 ? '' : ` And ${others.length} more.`}`;

const testOfGoal = (
  level: Level,
  world: World,
  tally: Tally,
  { goal, over, goalsUnjudged }: SessionStanding,
  position: number,
): GhostTest => {
  const name = `goal ${shortId(level.goals[position]?.id ?? '')}`;
  if (world.reached.includes(position)) return passed(name);
  if (tally.goals[position] === 'no') return failed(name, 'The goal is unreachable from the start.');
  if (tally.goalsNow[position] === 'no') return failed(name, 'The goal became unreachable.');
  if (goalsUnjudged !== undefined) return skipped(name, goalsUnjudged);
  if (over && isRunOver(world)) {
    const died = `The ghost ran out of hit points after ${tally.steps} steps.`;
    return goal === 'complete_level' ? failed(name, died) : skipped(name, died);
  }
  // Only a session that plays for goals has failed if it reached none.
  return over && goal === 'complete_level'
    ? failed(name, `The goal was not reached in ${tally.steps} steps.`)
    : skipped(name, over ? 'The goal was not reached, but the session was not trying to.' : 'The session is not over.');
};

/** Findings that bug hunting provokes, or that depend on the machine. */
export const provoked: readonly FindingKind[] = [
  'mind_allowed_world_refused',
  'mind_refused_world_allows',
  'slow_step',
];
/** Whether a finding makes its test fail: provoked findings do not, and neither does a rule that may still fire in another session. */
const isFault = ({ kind, fromStep }: Finding): boolean =>
  !provoked.includes(kind) && (kind !== 'rule_never_fired' || fromStep === 0);

/** One test for each kind of finding and for each goal of the level. */
export const testsOf = (level: Level, world: World, tally: Tally, standing: SessionStanding): readonly GhostTest[] => {
  const findings = findingsOf(level, tally, standing);
  const unjudged = whyUnjudged(level, tally, standing.over);
  return [
    ...findingKinds.map((kind) => {
      const error = errorOf(findings.filter((finding) => finding.kind === kind && isFault(finding)));
      if (error !== null) return failed(kind, error);
      const why = standing.unjudged?.[kind] ?? unjudged[kind];
      return why === null ? passed(kind) : skipped(kind, why);
    }),
    ...level.goals.map((_, position) => testOfGoal(level, world, tally, standing, position)),
  ];
};

/** The share of reachable tiles that the ghost has entered, 0 to 1. */
export const coverageOf = (level: Level, world: World): number => {
  const { count } = reachableTiles(level);
  return count === 0 ? 0 : Math.min(1, world.entered / count);
};

const sum = (counts: Counts): number => Object.values(counts).reduce((all, one) => all + one, 0);
const listed = (prefix: string, counts: Counts): readonly (readonly [string, number])[] =>
  Object.keys(counts)
    .sort()
    .map((name) => [`${prefix}.${name}`, counts[name] ?? 0]);

const firedOf = (level: Level, { fired }: Tally): number =>
  rulesetsOf(level)
    .map(({ rulesetRules }, set) => rulesetRules.filter((_, position) => bitmapHas(fired[set] ?? '', position)).length)
    .reduce((all, one) => all + one, 0);

/** The figures in `resultsMetrics` except the speed, which is measured from acceptance to the end. */
export const metricsOf = (
  level: Level,
  world: World,
  tally: Tally,
): readonly (readonly [name: string, value: number])[] => [
  ['steps', tally.steps],
  ['tiles.reachable', reachableTiles(level).count],
  ['tiles.entered', world.entered],
  ['tiles.coverage', coverageOf(level, world)],
  ['interactions', ['INTERACT', 'USE', 'SPEAK', 'ATTACK'].reduce((all, type) => all + (tally.done[type] ?? 0), 0)],
  ['goals', level.goals.length],
  ['goals.reached', world.reached.length],
  ['items', level.items.length],
  ['items.taken', world.held.length + world.spent.length],
  ['doors', level.doors.length],
  ['doors.opened', world.opened.length],
  ['triggers', level.triggers.length],
  ['triggers.observed', world.noticed.length],
  ['hp', world.hp],
  ['rules', rulesetsOf(level).reduce((all, { rulesetRules }) => all + rulesetRules.length, 0)],
  ['rules.fired', firedOf(level, tally)],
  ['decisions', tally.decisions.reduce((all, one) => all + one, 0)],
  ['refusals.mind', sum(tally.mindRefusals)],
  ['refusals.world', sum(tally.worldRefusals)],
  ...listed('actions', tally.actions),
  ...listed('refusals.mind', tally.mindRefusals),
  ...listed('refusals.world', tally.worldRefusals),
  ...timeMetrics(tally.times),
];
