import { byPlace, type ReplayPlace } from './place.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Json } from '../../../kernel/base/json.js';
import { type DifferenceKind, differenceKinds, type SkipReason } from './difference-kinds.js';

/** The number of samples of one kind of difference that are kept: the first by NPC and revision. */
export const SAMPLES_OF_KIND = 20;
/** The number of decisions that are kept for each use of a rule. */
export const SAMPLES_OF_USE = 5;

/** One decision with a different outcome. */
export type ReplaySample = ReplayPlace & { readonly kind: DifferenceKind; readonly was: Json; readonly would: Json };

/** The number of decisions that are named for which a replay lacked something, and of minds that were set aside. */
export const NAMED_SKIPPED = 20;
export const NAMED_ASIDE = 100;

/** A decision that could not be made again. */
export type SkippedDecision = ReplayPlace & { readonly reason: SkipReason };
/** A mind whose replay failed again and again, and why. */
export type MindAside = { readonly npcId: string; readonly reason: string };

/** The use of a rule: it matched (`fired`), the action or the refusal came from it (`decided`), or one above it decided (`shadowed`). */
export const useKinds = ['fired', 'decided', 'shadowed'] as const;
export type UseKind = (typeof useKinds)[number];

/** In how many decisions a rule matched at the time (`was`), and its uses in the replayed ones. */
export type RuleCount = {
  /** Absent: the rules of the trial. */
  readonly rulesetId?: string;
  readonly drRuleId: string;
  readonly was: number;
  /** The replayed decisions in which one of its conditions could not be decided; absent for none. */
  readonly errors?: number;
} & Readonly<Record<UseKind, number>> & {
    readonly samples: Readonly<Partial<Record<UseKind, readonly ReplayPlace[]>>>;
  };

/**
 * The findings of a replay, or of a part of it. Each figure is a sum, so parts are added in any order. A later part may correct an earlier count: a
 * turn that was equal so far is different from then on.
 */
export type ReplayFindings = {
  /** Minds with a decision that was asked for; absent where an older server counted without it. */
  readonly concerned?: number;
  /** Decisions that were replayed. */
  readonly decisions: number;
  readonly turns: { readonly equal: number; readonly different: number };
  /** Turns that could not be replayed. */
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Decisions with a different outcome; a kind that did not occur may be absent. */
  readonly differences: Readonly<Partial<Record<DifferenceKind, number>>>;
  readonly rules: readonly RuleCount[];
  readonly samples: readonly ReplaySample[];
  /** The first decisions that could not be made again; absent for none. */
  readonly notReplayed?: readonly SkippedDecision[];
  /** How many minds were set aside, and the first of them; absent for none. */
  readonly setAside?: { readonly minds: number; readonly named: readonly MindAside[] };
  /** The decisions of a trial in which the current logic differs from the record by the rules of the time; absent for none. */
  readonly byLogic?: LogicFindings;
};

/** Decisions that another logic makes differently, and the first of them. */
export type LogicFindings = { readonly decisions: number; readonly samples: readonly ReplaySample[] };

export const noFindings: ReplayFindings = {
  concerned: 0,
  decisions: 0,
  turns: { equal: 0, different: 0 },
  skipped: { logic: 0, rules: 0, turn: 0 },
  differences: {},
  rules: [],
  samples: [],
};

/** Identifies a rule among all others of a replay. */
export const ruleKey = ({ rulesetId, drRuleId }: Pick<RuleCount, 'rulesetId' | 'drRuleId'>): string =>
  rulesetId === undefined ? drRuleId : `${rulesetId}/${drRuleId}`;

/** The first ones by NPC and revision, up to this number. */
const firstOf = <Place extends ReplayPlace>(places: readonly Place[], most: number): readonly Place[] =>
  places.toSorted(byPlace).slice(0, most);

/** The samples that are kept of all these. */
export const keptSamples = (samples: readonly ReplaySample[]): readonly ReplaySample[] =>
  differenceKinds.flatMap((kind) =>
    firstOf(
      samples.filter((sample) => sample.kind === kind),
      SAMPLES_OF_KIND,
    ),
  );

/** The member of a count that has any. */
export const errorsOf = (errors: number): Pick<RuleCount, 'errors'> => (errors === 0 ? {} : { errors });

const addedUses = (one: RuleCount['samples'], other: RuleCount['samples']): RuleCount['samples'] =>
  Object.fromEntries(
    useKinds.flatMap((use) => {
      const places = [...(one[use] ?? []), ...(other[use] ?? [])];
      return places.length === 0 ? [] : [[use, firstOf(places, SAMPLES_OF_USE)]];
    }),
  );

const addedRules = (one: readonly RuleCount[], other: readonly RuleCount[]): readonly RuleCount[] => {
  const all = new Map(one.map((count) => [ruleKey(count), count]));
  for (const count of other) {
    const known = all.get(ruleKey(count));
    all.set(
      ruleKey(count),
      known === undefined
        ? count
        : {
            ...known,
            was: known.was + count.was,
            fired: known.fired + count.fired,
            decided: known.decided + count.decided,
            shadowed: known.shadowed + count.shadowed,
            ...errorsOf((known.errors ?? 0) + (count.errors ?? 0)),
            samples: addedUses(known.samples, count.samples),
          },
    );
  }
  return [...all.values()];
};

/** The first samples of decisions that another logic makes differently. */
export const keptByLogic = (samples: readonly ReplaySample[]): readonly ReplaySample[] =>
  firstOf(samples, SAMPLES_OF_KIND);

const addedByLogic = (
  one: LogicFindings | undefined,
  other: LogicFindings | undefined,
): Pick<ReplayFindings, 'byLogic'> => {
  if (one === undefined || other === undefined) return defined({ byLogic: one ?? other });
  const samples = keptByLogic([...one.samples, ...other.samples]);
  return { byLogic: { decisions: one.decisions + other.decisions, samples } };
};

const addedSkipped = (
  one: ReplayFindings['notReplayed'] = [],
  other: ReplayFindings['notReplayed'] = [],
): Pick<ReplayFindings, 'notReplayed'> => {
  const places = firstOf([...one, ...other], NAMED_SKIPPED);
  return places.length === 0 ? {} : { notReplayed: places };
};

const addedAside = (
  one: ReplayFindings['setAside'],
  other: ReplayFindings['setAside'],
): Pick<ReplayFindings, 'setAside'> => {
  if (one === undefined || other === undefined) return defined({ setAside: one ?? other });
  return {
    setAside: { minds: one.minds + other.minds, named: [...one.named, ...other.named].slice(0, NAMED_ASIDE) },
  };
};

/** A sum of which a part is unknown is unknown. */
const addedMinds = (one?: number, other?: number): Pick<ReplayFindings, 'concerned'> =>
  one === undefined || other === undefined ? {} : { concerned: one + other };

/** The combined findings of two parts. */
export const addFindings = (one: ReplayFindings, other: ReplayFindings): ReplayFindings => ({
  ...addedMinds(one.concerned, other.concerned),
  decisions: one.decisions + other.decisions,
  turns: {
    equal: one.turns.equal + other.turns.equal,
    different: one.turns.different + other.turns.different,
  },
  skipped: {
    logic: one.skipped.logic + other.skipped.logic,
    rules: one.skipped.rules + other.skipped.rules,
    turn: one.skipped.turn + other.skipped.turn,
  },
  differences: Object.fromEntries(
    differenceKinds.flatMap((kind) => {
      const sum = (one.differences[kind] ?? 0) + (other.differences[kind] ?? 0);
      return sum === 0 ? [] : [[kind, sum]];
    }),
  ),
  rules: addedRules(one.rules, other.rules),
  samples: keptSamples([...one.samples, ...other.samples]),
  ...addedSkipped(one.notReplayed, other.notReplayed),
  ...addedAside(one.setAside, other.setAside),
  ...addedByLogic(one.byLogic, other.byLogic),
});
