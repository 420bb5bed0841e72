import { type DifferenceKind, differenceKinds, type SkipReason } from './domain/difference-kinds.js';
import {
  errorsOf,
  NAMED_SKIPPED,
  type ReplayFindings,
  type ReplaySample,
  type RuleCount,
  ruleKey,
  SAMPLES_OF_KIND,
  SAMPLES_OF_USE,
  type SkippedDecision,
  type UseKind,
  useKinds,
} from './domain/findings.js';
import { byPlace, type ReplayPlace } from './domain/place.js';
import type { Verdict } from '../npcs/domain/events.js';
import { type RuledDecision, rulesWithErrors, ruleUse } from '../turns/domain/rule-use.js';
import type { Json } from '../../kernel/base/json.js';
import { shortened } from '../../kernel/base/shorten.js';
import type { DecisionOutcome } from './decide-again.js';
import { defined } from '../../kernel/base/defined.js';
import type { DecidedAgain, RulesAgain } from './replay-mind.js';

/** The standing of a turn: a reason explains why it could not be replayed. */
export type TurnStanding = 'equal' | 'different' | SkipReason;

/** The rules by which a decision was replayed. */
type DecidedBy = Pick<RulesAgain, 'rules' | 'trial'>;

/** Earlier findings, as far as later ones depend on them. */
export type KnownFindings = Pick<ReplayFindings, 'samples' | 'rules' | 'byLogic' | 'notReplayed'>;

/** Collects findings as they occur. */
export type FoundSoFar = {
  /** Notes that a mind has a decision that was asked for; once for each mind. */
  mind(): void;
  /** Notes a decision. */
  decision(npcId: string, decided: DecidedAgain, by: DecidedBy): void;
  /** Notes the current standing of a turn; `before` is its previous one, which is subtracted. */
  turn(before: TurnStanding | null, now: TurnStanding): void;
  findings(): ReplayFindings;
};

/** The rules in an outcome; a step that records none used none. */
const ruledIn = (outcome: DecisionOutcome): RuledDecision => {
  const { verdict, grounds, rules } = outcome as unknown as {
    readonly verdict?: Verdict;
    readonly grounds?: Pick<RuledDecision, 'rules' | 'replacedBy'>;
    readonly rules?: RuledDecision['rules'];
  };
  const replacedBy = grounds?.replacedBy;
  return { rules: grounds?.rules ?? rules ?? [], verdict: verdict ?? null, ...defined({ replacedBy }) };
};

/** The first places of all that were offered. */
const createFirst = <Place extends ReplayPlace>(most: number, known: readonly ReplayPlace[]) => {
  const places: Place[] = [];
  /** If the known places are already full, later places have no room. */
  const bound = known.length >= most ? known.toSorted(byPlace)[most - 1] : undefined;
  return {
    places,
    offer: (place: ReplayPlace, make: () => Place): void => {
      if (bound !== undefined && byPlace(place, bound) > 0) return;
      const last = places[most - 1];
      if (last !== undefined && byPlace(place, last) >= 0) return;
      places.push(make());
      // They nearly always arrive in order.
      if (places.length > 1) places.sort(byPlace);
      if (places.length > most) places.pop();
    },
  };
};

type Counted = {
  readonly rulesetId: string | undefined;
  readonly drRuleId: string;
  was: number;
  errors: number;
} & Record<UseKind, number> & {
    readonly samples: Readonly<Record<UseKind, ReturnType<typeof createFirst<ReplayPlace>>>>;
  };

/** The size to which a sample truncates an outcome, in bytes of JSON. */
const SHOWN_BYTES = 2_048;

/** The part of an outcome that a difference of this kind is about: a verdict without its grounds, or the grounds if only they differ. */
const shownOutcome = (outcome: DecisionOutcome, kind: DifferenceKind): Json => {
  const { verdict, grounds, ...rest } = outcome;
  if (kind === 'otherTrace') return shortened(grounds ?? rest, SHOWN_BYTES);
  if (verdict !== undefined) return shortened(verdict, SHOWN_BYTES);
  const { rules: _rules, seen: _seen, seenLeftOut: _left, ...made } = rest;
  return shortened(made, SHOWN_BYTES);
};

const shownOutcomes = (was: DecisionOutcome, would: DecisionOutcome, kind: DifferenceKind) => ({
  was: shownOutcome(was, kind),
  would: shownOutcome(would, kind),
});

/**
 * Gathers the findings of a part of a replay.
 * @param known earlier findings: samples that would not be kept in addition to them are not made
 */
export const gatherFindings = (known: KnownFindings): FoundSoFar => {
  let concerned = 0;
  let decisions = 0;
  const turns: Record<TurnStanding, number> = { equal: 0, different: 0, logic: 0, rules: 0, turn: 0 };
  const differences = new Map<DifferenceKind, number>();
  const samples = new Map(
    differenceKinds.map((kind) => [
      kind,
      createFirst<ReplaySample>(
        SAMPLES_OF_KIND,
        known.samples.filter((sample) => sample.kind === kind),
      ),
    ]),
  );
  let byLogic = 0;
  const ofLogic = createFirst<ReplaySample>(SAMPLES_OF_KIND, known.byLogic?.samples ?? []);
  const notReplayed = createFirst<SkippedDecision>(NAMED_SKIPPED, known.notReplayed ?? []);
  const knownUses = new Map(known.rules.map((count) => [ruleKey(count), count.samples]));
  const rules = new Map<string, Counted>();

  const counted = (rulesetId: string | undefined, drRuleId: string): Counted => {
    const key = ruleKey({ drRuleId, ...defined({ rulesetId }) });
    const before = rules.get(key);
    if (before !== undefined) return before;
    const uses = (use: UseKind) => createFirst<ReplayPlace>(SAMPLES_OF_USE, knownUses.get(key)?.[use] ?? []);
    const count: Counted = {
      ...{ rulesetId, drRuleId, was: 0, errors: 0, fired: 0, decided: 0, shadowed: 0 },
      samples: { fired: uses('fired'), decided: uses('decided'), shadowed: uses('shadowed') },
    };
    rules.set(key, count);
    return count;
  };

  const noteRules = (place: ReplayPlace, { ruleset, was, would }: DecidedAgain, by: DecidedBy): void => {
    const own = by.trial ? undefined : ruleset?.rulesetId;
    const then = by.trial && ruleset?.rulesetId === by.rules?.rulesetId ? undefined : ruleset?.rulesetId;
    if (ruleset !== null)
      for (const { drRuleId, matched } of ruledIn(was).rules) if (matched) counted(then, drRuleId).was += 1;
    if (by.rules === null || would === null) return;
    const ruled = ruledIn(would);
    const { fired, decided, shadowed } = ruleUse(by.rules, ruled);
    const note = (use: UseKind, drRuleId: string): void => {
      const count = counted(own, drRuleId);
      count[use] += 1;
      count.samples[use].offer(place, () => place);
    };
    for (const drRuleId of fired) note('fired', drRuleId);
    for (const drRuleId of shadowed) note('shadowed', drRuleId);
    if (decided !== null) note('decided', decided);
    for (const drRuleId of rulesWithErrors(ruled)) counted(own, drRuleId).errors += 1;
  };

  return {
    mind: () => {
      concerned += 1;
    },
    decision: (npcId, decided, by) => {
      const { revision, turnId = null, difference, was, then = was, would, byLogic: kind = null } = decided;
      const place = { npcId, turnId, revision };
      const { skipped: reason } = decided;
      if (reason !== undefined) notReplayed.offer(place, () => ({ ...place, reason }));
      if (would === null) return;
      decisions += 1;
      noteRules(place, decided, by);
      if (kind !== null) {
        byLogic += 1;
        ofLogic.offer(place, () => ({ ...place, kind, ...shownOutcomes(was, then, kind) }));
      }
      if (difference === null) return;
      differences.set(difference, (differences.get(difference) ?? 0) + 1);
      samples.get(difference)?.offer(place, () => ({
        ...place,
        kind: difference,
        ...shownOutcomes(then, would, difference),
      }));
    },
    turn: (before, now) => {
      if (before !== null) turns[before] -= 1;
      turns[now] += 1;
    },
    findings: () => {
      const { equal, different, logic, rules: lost, turn } = turns;
      return {
        ...{ concerned, decisions, turns: { equal, different }, skipped: { logic, rules: lost, turn } },
        differences: Object.fromEntries(differences),
        rules: Array.from(rules.values(), ({ rulesetId, samples: of, errors, ...count }): RuleCount => ({
          ...count,
          ...errorsOf(errors),
          ...defined({ rulesetId }),
          samples: Object.fromEntries(
            useKinds.flatMap((use) => (of[use].places.length === 0 ? [] : [[use, of[use].places]])),
          ),
        })),
        samples: differenceKinds.flatMap((kind) => samples.get(kind)?.places ?? []),
        ...(notReplayed.places.length === 0 ? {} : { notReplayed: notReplayed.places }),
        ...(byLogic === 0 ? {} : { byLogic: { decisions: byLogic, samples: ofLogic.places } }),
      };
    },
  };
};
