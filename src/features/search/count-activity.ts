import { activity, activityPlace, countedRule, REFUSALS, TURNS } from '../../../projections/activity.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { CountedPlace, ReadModels } from '../../ports/read-models.js';
import { type ActivitySpan, type ActivityUnit, bucketAt, bucketOf } from './domain/activity-span.js';

/** How many counts are read at a time: some milliseconds of work. */
const READ_COUNTS = 2_000;
/** How many rules are compared with each other, and how many of them an answer names. */
const COMPARED_RULES = 1_000;
const NAMED_RULES = 20;

type RuleRefusals = { readonly drRuleId: string; refusals: number; readonly buckets: number[] };

/** What happened in a span. `buckets` of a rule: its refusals in each bucket. */
export type Activity = {
  readonly turns: number;
  readonly refusals: number;
  readonly buckets: readonly { readonly at: string; readonly turns: number; readonly refusals: number }[];
  readonly rules: readonly Readonly<RuleRefusals>[];
  /** Refusals by other rules, or by none. */
  readonly otherRefusals: number;
};

/** The time of a place: an hour or a day of UTC. */
const timeAt = ({ place }: Pick<CountedPlace, 'place'>, unit: ActivityUnit): number =>
  Date.parse(unit === 'hours' ? `${place}:00:00Z` : `${place}T00:00:00Z`);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** The counts of a partition in a span, summed up by bucket. Reads them in parts, between which other work runs. */
export const countActivity = async (
  { readModels }: { readonly readModels: Pick<ReadModels, 'counts'> },
  partition: string,
  span: ActivitySpan,
): Promise<Activity> => {
  const empty = (): number[] => Array<number>(span.buckets).fill(0);
  const [turns, refusals] = [empty(), empty()];
  const rules = new Map<string, RuleRefusals>();
  const byRule = (drRuleId: string): RuleRefusals | undefined => {
    const known = rules.get(drRuleId);
    if (known !== undefined || rules.size === COMPARED_RULES) return known;
    const fresh = { drRuleId, refusals: 0, buckets: empty() };
    rules.set(drRuleId, fresh);
    return fresh;
  };
  const placeAt = (timeMs: number): string => activityPlace(span.unit, new Date(timeMs).toISOString());
  const range = { partition, from: placeAt(span.fromMs), to: placeAt(span.toMs), limit: READ_COUNTS };
  for (let after: CountedPlace | undefined; ;) {
    const read = await readModels.counts(activity, after === undefined ? range : { ...range, after });
    for (const counted of read) {
      const { name, count } = counted;
      const bucket = bucketOf(span, timeAt(counted, span.unit));
      const rule = countedRule(name);
      const of = rule === undefined ? undefined : byRule(rule);
      const counts = name === TURNS ? turns : name === REFUSALS ? refusals : of?.buckets;
      if (counts !== undefined) counts[bucket] = (counts[bucket] ?? 0) + count;
      if (of !== undefined) of.refusals += count;
    }
    after = read.at(-1);
    if (read.length < READ_COUNTS) break;
    await yieldToEventLoop();
  }
  const named = [...rules.values()].sort((one, other) => other.refusals - one.refusals).slice(0, NAMED_RULES);
  return {
    turns: sum(turns),
    refusals: sum(refusals),
    buckets: turns.map((count, bucket) => ({
      at: bucketAt(span, bucket),
      turns: count,
      refusals: refusals[bucket] ?? 0,
    })),
    rules: named,
    otherRefusals: sum(refusals) - sum(named.map((rule) => rule.refusals)),
  };
};
