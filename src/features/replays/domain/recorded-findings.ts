import { jsonBytes } from '../../../kernel/base/json.js';
import {
  keptByLogic,
  keptSamples,
  type LogicFindings,
  type ReplayFindings,
  type ReplaySample,
  type RuleCount,
  ruleKey,
  SAMPLES_OF_USE,
  useKinds,
} from './findings.js';

/** How much of a slice's findings one event holds, in bytes of JSON: samples, counts of rules, and where these rules were used. */
export const SAMPLES_BYTES = 450_000;
/** The share of the samples of other logics. */
export const LOGIC_BYTES = 80_000;
export const RULES_BYTES = 250_000;
export const USES_BYTES = 100_000;

/** The first ones that fit. */
const within = <Item>(items: readonly Item[], bytes: number): readonly Item[] => {
  let left = bytes;
  return items.filter((item) => {
    left -= jsonBytes(item as never) + 1;
    return left >= 0;
  });
};

/** The samples of a slice that are kept in addition to the known ones. */
const newSamples = (known: readonly ReplaySample[], found: readonly ReplaySample[]): readonly ReplaySample[] => {
  const kept = new Set(keptSamples([...known, ...found]));
  return within(
    found.filter((sample) => kept.has(sample)),
    SAMPLES_BYTES - LOGIC_BYTES,
  );
};

const newByLogic = (known: LogicFindings | undefined, found: LogicFindings): LogicFindings => {
  const kept = new Set(keptByLogic([...(known?.samples ?? []), ...found.samples]));
  return {
    ...found,
    samples: within(
      found.samples.filter((sample) => kept.has(sample)),
      LOGIC_BYTES,
    ),
  };
};

const newRules = (known: readonly RuleCount[], found: readonly RuleCount[]): readonly RuleCount[] => {
  const knownBy = new Map(known.map((count) => [ruleKey(count), count]));
  let left = USES_BYTES;
  const room = (bytes: number): boolean => {
    left -= bytes;
    return left >= 0;
  };
  // The rules of a trial come first.
  const counts = found
    .toSorted((one, other) => Number(one.rulesetId !== undefined) - Number(other.rulesetId !== undefined))
    .map((count) => ({ ...count, samples: {} }));
  const fitting = within(counts, RULES_BYTES);
  const samplesBy = new Map(found.map((count) => [ruleKey(count), count.samples]));
  return fitting.map((count) => {
    const before = knownBy.get(ruleKey(count))?.samples ?? {};
    const after = samplesBy.get(ruleKey(count)) ?? {};
    const samples = Object.fromEntries(
      useKinds.flatMap((use) => {
        const isFull = (before[use]?.length ?? 0) >= SAMPLES_OF_USE;
        const places = isFull ? [] : (after[use] ?? []);
        return places.length > 0 && room(jsonBytes(places)) ? [[use, places]] : [];
      }),
    );
    return { ...count, samples };
  });
};

/**
 * The findings of a slice in the form that its event records: without samples that would be dropped, and never more than an event holds. Counts of
 * turns and differences are always complete.
 */
export const recordedFindings = (known: ReplayFindings, found: ReplayFindings): ReplayFindings => ({
  ...found,
  samples: newSamples(known.samples, found.samples),
  rules: newRules(known.rules, found.rules),
  ...(found.byLogic === undefined ? {} : { byLogic: newByLogic(known.byLogic, found.byLogic) }),
});
