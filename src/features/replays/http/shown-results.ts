import { Type } from '@sinclair/typebox';

import { differenceKinds, type SkipReason, skipReasons } from '../domain/difference-kinds.js';
import { byPlace } from '../domain/place.js';
import { noFindings, type ReplayFindings, type ReplaySample, type RuleCount } from '../domain/findings.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Replay } from '../run-replay.js';
import { named } from '../../../kernel/http/named.js';
import { AnyJson, oneOf } from '../../../kernel/http/schemas.js';

/** The number of samples that a response shows, of all kinds together. */
const SHOWN_SAMPLES = 100;

const Count = Type.Integer();
const counts = (names: readonly string[]) => Type.Object(Object.fromEntries(names.map((name) => [name, Count])));
const Place = named(
  'Decision',
  Type.Object({
    npcId: Type.String(),
    turnId: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    revision: Type.Integer(),
  }),
);
const kind = Type.Unsafe<string>(oneOf(differenceKinds));
const Difference = named('Difference', Type.Intersect([Place, Type.Object({ kind, was: AnyJson, would: AnyJson })]));
const FirstDifference = named('FirstDifference', Type.Intersect([Place, Type.Object({ kind })]));

const ReplayedRule = named(
  'ReplayedRule',
  Type.Object({
    rulesetId: Type.String(),
    drRuleId: Type.String(),
    matched: Type.Object({ was: Count, would: Count }),
    decided: Count,
    shadowed: Count,
    errors: Type.Integer({ description: 'In how many decisions a condition could not be decided.' }),
    samples: Type.Object({
      fired: Type.Array(Place),
      decided: Type.Array(Place),
      shadowed: Type.Array(Place),
    }),
  }),
);

/** A replay and what it has found. */
export const ShownReplay = named(
  'Replay',
  Type.Object({
    replayId: Type.String(),
    status: Type.Unsafe<string>({ type: 'string', enum: ['running', 'completed', 'failed', 'cancelled'] }),
    trial: Type.Boolean({ description: 'Whether it used other rules than those that were recorded.' }),
    startedAt: Type.String({ format: 'date-time' }),
    endedAt: Type.Optional(Type.String({ format: 'date-time' })),
    reason: Type.Optional(Type.String({ description: 'Why it failed.' })),
    progress: Type.Number({ description: 'From 0 to 1.' }),
    minds: Type.Integer({ description: 'The number of histories that it reads.' }),
    concerned: Type.Optional(
      Type.Integer({ description: 'The number of those histories with a decision that was asked for.' }),
    ),
    unknown: Type.Array(Type.String(), { description: 'The named NPCs that have no history.' }),
    decisions: Type.Integer({ description: 'The number of decisions that were replayed.' }),
    turns: named('ReplayedTurns', Type.Object({ checked: Count, equal: Count, different: Count, skipped: Count })),
    skipped: named('SkippedTurns', counts(skipReasons)),
    notReplayed: Type.Optional(
      Type.Array(
        named(
          'SkippedDecision',
          Type.Intersect([Place, Type.Object({ reason: Type.Unsafe<SkipReason>(oneOf(skipReasons)) })]),
        ),
        {
          description: 'The first decisions that could not be made again; absent for none.',
        },
      ),
    ),
    setAside: Type.Optional(
      named(
        'MindsSetAside',
        Type.Object(
          { minds: Count, named: Type.Array(Type.Object({ npcId: Type.String(), reason: Type.String() })) },
          { description: 'The minds whose replay failed three times, and the first 100 of them; absent for none.' },
        ),
      ),
    ),
    differences: named('DifferenceCounts', counts(differenceKinds)),
    rules: Type.Array(ReplayedRule),
    samples: Type.Array(Difference),
    byLogic: Type.Optional(
      named(
        'LogicDifferences',
        Type.Object(
          { decisions: Count, samples: Type.Array(Difference) },
          {
            description:
              'Only in a trial: the decisions that the current logic makes differently from the record, by the rules in force at the time.',
          },
        ),
      ),
    ),
    firstDifference: Type.Optional(FirstDifference),
  }),
);

/** Of each kind the first ones, as many of each as there is room for. */
const shownSamples = (samples: readonly ReplaySample[]): readonly ReplaySample[] => {
  const rank = new Map<string, number>();
  return samples
    .map((sample) => {
      const place = (rank.get(sample.kind) ?? 0) + 1;
      rank.set(sample.kind, place);
      return { sample, place };
    })
    .toSorted((one, other) => one.place - other.place)
    .slice(0, SHOWN_SAMPLES)
    .map(({ sample }) => sample)
    .toSorted(byPlace);
};

const shownRule = (
  trialId: string,
  { rulesetId = trialId, drRuleId, was, fired, errors = 0, ...count }: RuleCount,
) => ({
  ...{ rulesetId, drRuleId, matched: { was, would: fired }, decided: count.decided, shadowed: count.shadowed },
  errors,
  samples: { fired: [], decided: [], shadowed: [], ...count.samples },
});

const shownFindings = (trialId: string, found: ReplayFindings) => {
  const { concerned, decisions, turns, skipped, differences, rules, samples } = found;
  const first = samples.toSorted(byPlace)[0];
  return {
    ...defined({ concerned }),
    decisions,
    turns: {
      ...{ checked: turns.equal + turns.different, ...turns },
      skipped: skipReasons.reduce((sum, reason) => sum + skipped[reason], 0),
    },
    skipped,
    ...defined({ notReplayed: found.notReplayed, setAside: found.setAside }),
    differences: Object.fromEntries(differenceKinds.map((kind) => [kind, differences[kind] ?? 0])),
    rules: rules.map((count) => shownRule(trialId, count)),
    samples: shownSamples(samples),
    ...(first === undefined
      ? {}
      : { firstDifference: { npcId: first.npcId, turnId: first.turnId, revision: first.revision, kind: first.kind } }),
  };
};

const progressOf = (replay: Replay): number => {
  if (replay.name === 'pending') return 0;
  if (replay.name === 'over' && replay.ending === 'completed') return 1;
  return Math.min(1, replay.events / Math.max(1, replay.eventsInAll));
};

const shownByLogic = ({ byLogic }: ReplayFindings) => ({
  decisions: byLogic?.decisions ?? 0,
  samples: (byLogic?.samples ?? []).toSorted(byPlace),
});

/** A replay with the fixed names of its members. */
export const shownReplay = (replay: Replay) => {
  const { replayId, startedAt, ruleset, rules } = replay;
  const over = replay.name === 'over' ? replay : undefined;
  const begun = replay.name === 'pending' ? undefined : replay;
  const found = begun?.found ?? noFindings;
  const trial = ruleset !== undefined || rules !== undefined;
  return {
    ...{ replayId, status: over?.ending ?? 'running', trial },
    ...{ startedAt, ...defined({ endedAt: over?.endedAt, reason: over?.reason ?? undefined }) },
    ...{ progress: progressOf(replay), minds: begun?.minds ?? 0, unknown: begun?.unknown ?? [] },
    ...shownFindings(ruleset?.rulesetId ?? rules?.rulesetId ?? '', found),
    ...(trial ? { byLogic: shownByLogic(found) } : {}),
  };
};
