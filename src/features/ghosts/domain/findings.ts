import type { Level } from '../../levels/domain/level.js';
import { onlyDescribes } from '../../rules/domain/ruleset.js';
import { firstFitting } from '../../../kernel/base/json.js';
import { drained, type Sliced } from '../../../kernel/base/sliced.js';
import { bitmapHas } from './bitmap.js';
import { type Reachable, reachFromStart, unusableItems } from './reach.js';
import { regionsInSlices } from './regions.js';
import { NO_NUMBERS, type NumberKeys, WORLD_NUMBERS } from './never-matches.js';
import { ruleProblems, ruleSubject } from './rule-problems.js';
import { type FindingKind, findingKinds, type MergedFinding } from './finding-kinds.js';
import { rulesetsOf, type Tally } from './tally.js';
import { shortId } from './world.js';

/** A finding in the results. */
export type Finding = MergedFinding & { readonly n: number };

/**
 * A rule is reported as never fired only after this many decisions with its ruleset: one that matches in 2 of 100 decisions is then missed in fewer
 * than 2 of 100 sessions (0.98 to the power of 200).
 */
export const DECISIONS_TO_JUDGE = 200;
/**
 * The limit of the findings in a report, in bytes of JSON: it is one event. Findings of the level have their own share, so that every session of the
 * level lists the same ones, and none of them appears new or gone.
 */
const LEVEL_BYTES = 150_000;
const PLAYED_BYTES = 250_000;
/** The session's findings that are listed first: nothing else reveals them. */
const listedFirst: readonly FindingKind[] = ['soft_lock', 'engine_error'];

const NO_WAY = 'It is unreachable from the start, whichever doors are opened.';
const TOO_HARMFUL = 'The hazards on every way to it cost more hit points than the player has.';

/** A problem of the level itself: no event shows it. */
const ofLevel = (kind: MergedFinding['kind'], subject: string, detail: string): MergedFinding => ({
  kind,
  subject,
  detail,
  fromStep: 0,
  toStep: 0,
  count: 1,
  events: [],
});

const staticFindings = new Map(
  [WORLD_NUMBERS, NO_NUMBERS].map((numbers) => [numbers, new WeakMap<Level, readonly MergedFinding[]>()]),
);

/** Findings that need no play: items and rules. In slices; made once for the lifetime of a level. */
export function* findingsOfLevel(level: Level, numbers: NumberKeys): Sliced<readonly MergedFinding[]> {
  const known = staticFindings.get(numbers)?.get(level);
  if (known !== undefined) return known;
  yield* regionsInSlices(level, 'bold');
  const found = unusableItems(level).map(({ id, why }) => ofLevel('unusable_item', shortId(id), why));
  yield level.items.length;
  for (const ruleset of rulesetsOf(level)) {
    const problems = yield* ruleProblems(ruleset, numbers);
    for (const { kind, subject, detail } of problems) found.push(ofLevel(kind, subject, detail));
  }
  staticFindings.get(numbers)?.set(level, found);
  return found;
}

/** Rules that matched in none of the decisions, of the rulesets with enough decisions. */
const neverFired = (level: Level, { decisions, fired, steps }: Tally): readonly MergedFinding[] =>
  rulesetsOf(level).flatMap(({ rulesetId, rulesetRules }, set) => {
    const made = decisions[set] ?? 0;
    if (made < DECISIONS_TO_JUDGE) return [];
    return rulesetRules
      .filter((rule, position) => !onlyDescribes(rule) && !bitmapHas(fired[set] ?? '', position))
      .map((rule) => ({
        ...ofLevel(
          'rule_never_fired',
          ruleSubject(rulesetId, rule),
          `The rule did not match in any of ${made} decisions.`,
        ),
        fromStep: steps,
        toStep: steps,
      }));
  });

/** The findings that a report lists, in the same order; the others have numbers too. */
export const listedFindings = (findings: readonly Finding[]): readonly Finding[] => {
  const isFirst = ({ kind }: Finding): boolean => listedFirst.includes(kind);
  const played = findings.filter(({ fromStep }) => fromStep > 0);
  return [
    ...firstFitting(
      findings.filter(({ fromStep }) => fromStep === 0),
      LEVEL_BYTES,
    ),
    ...firstFitting([...played.filter(isFirst), ...played.filter((one) => !isFirst(one))], PLAYED_BYTES),
  ].toSorted((left, right) => left.n - right.n);
};

/**
 * All findings of a session, sorted by the step in which each was first seen. Findings about the level itself have step 0.
 * @param over whether the session has ended: only then is it known which rules never fired
 * @param elsewhere whether a remote game is the world: then less is certain about the values that rules see
 */
export const findingsOf = (
  level: Level,
  tally: Tally,
  { over, elsewhere = false }: { readonly over: boolean; readonly elsewhere?: boolean },
): readonly Finding[] => {
  const unharmed = (): readonly Reachable[] => drained(reachFromStart(level, 'unharmed'));
  const unreachable = level.goals.flatMap(({ id }, goal) =>
    tally.goals[goal] === 'no'
      ? [ofLevel('unreachable_goal', shortId(id), unharmed()[goal] === 'yes' ? TOO_HARMFUL : NO_WAY)]
      : [],
  );
  const unplayed = drained(findingsOfLevel(level, elsewhere ? NO_NUMBERS : WORLD_NUMBERS));
  const known = [...unreachable, ...unplayed, ...tally.found];
  const nameOf = ({ kind, subject }: MergedFinding): string => `${kind} ${subject}`;
  const names = new Set(known.map(nameOf));
  const isNew = (one: MergedFinding): boolean => !names.has(nameOf(one));
  const rank = ({ kind }: MergedFinding): number => findingKinds.indexOf(kind);
  const sorted = known.toSorted((left, right) => left.fromStep - right.fromStep || rank(left) - rank(right));
  // Absences come later, so that no number changes at the end; findings that depend on the machine come last, so that they change no number.
  const all = [...sorted, ...(over ? neverFired(level, tally).filter(isNew) : []), ...(tally.times?.slow ?? [])];
  return all.map((found, index) => ({ n: index + 1, ...found }));
};
