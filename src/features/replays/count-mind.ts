import type { ReplayPlan } from './domain/events.js';
import type { DirectiveRuleSet, RulesetUsed } from '../rules/domain/ruleset.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { besidesVerdict } from '../../../workflows/turn/turn-events.js';
import type { FoundSoFar, TurnStanding } from './gather-findings.js';
import { createMindReplay, type DecidedAgain, type RulesAgain } from './replay-mind.js';

/** Which decisions are replayed, and by which rules. */
export type ReplayTask = Pick<
  ReplayPlan,
  'upTo' | 'fromRevision' | 'toRevision' | 'turnId' | 'since' | 'until' | 'instead' | 'outputs'
> & {
  readonly replayId: string;
  readonly tenant: string;
  /** The rules of a trial; absent if the rules in force at the time decide. */
  readonly trial?: DirectiveRuleSet;
};

/** One mind whose decisions are replayed and counted. */
export type CountedMind = {
  /** The version of the rules that the next event needs; undefined if it needs none. */
  needs(recorded: RecordedEvent): RulesetUsed | null | undefined;
  /** Takes the next event. @param rules the rules in force at the time, if they are needed */
  take(recorded: RecordedEvent, rules: DirectiveRuleSet | null, found: FoundSoFar): Sliced<void>;
};

/** Whether this event and all later ones of a stream are outside the replay. Neither positions nor times decrease in a stream. */
export const isBeyond = (
  { upTo, toRevision, until }: Pick<ReplayTask, 'upTo' | 'toRevision' | 'until'>,
  { position, revision, meta }: RecordedEvent,
): boolean =>
  position > upTo || (toRevision !== undefined && revision > toRevision) || (until !== undefined && meta.at > until);

/** The one of two standings of a turn that counts: one difference makes it different. */
const worse = (one: TurnStanding, other: TurnStanding): TurnStanding => {
  if (one === 'different' || other === 'different') return 'different';
  return one === 'equal' ? other : one;
};

const standingOf = ({ difference, skipped }: DecidedAgain): TurnStanding =>
  skipped ?? (difference === null ? 'equal' : 'different');

/**
 * Counts the decisions of one mind. A turn is counted with its first decision and again whenever its status changes, so that a count is right
 * wherever it is cut.
 */
export const countMind = (npcId: string, task: ReplayTask): CountedMind => {
  const replay = createMindReplay(npcId);
  const turns = new Map<string, TurnStanding>();
  let isConcerned = false;
  /** A turn that has its verdict, but may still turn out different because of the events recorded alongside the verdict. */
  let ended: string | null = null;
  const outputs = new Map(
    task.outputs
      ?.filter((other) => other.npcId === undefined || other.npcId === npcId)
      .map(({ turnId, generatedOutput }) => [turnId, generatedOutput]),
  );

  const isAsked = ({ revision, meta, data }: RecordedEvent): boolean =>
    revision >= (task.fromRevision ?? 0) &&
    (task.since === undefined || meta.at >= task.since) &&
    (task.turnId === undefined || data['turnId'] === task.turnId);

  /**
   * The rules of the time that an event needs; undefined if it is not included. A trial does not judge the events recorded alongside verdicts.
   */
  const rulesFor = (recorded: RecordedEvent): RulesetUsed | null | undefined => {
    const ref = isAsked(recorded) ? replay.rulesOf(recorded) : undefined;
    const isOther = task.trial !== undefined && task.instead !== undefined && ref?.rulesetId !== task.instead;
    return isOther ? undefined : ref;
  };

  const note = (taken: DecidedAgain, again: RulesAgain, found: FoundSoFar): void => {
    const decided = again.trial ? withoutTrace(taken) : taken;
    if (!isConcerned) found.mind();
    isConcerned = true;
    found.decision(npcId, decided, again);
    const { turnId } = decided;
    const now = standingOf(decided);
    if (turnId === undefined) {
      found.turn(null, now);
      return;
    }
    const before = turns.get(turnId) ?? null;
    const after = before === null ? now : worse(before, now);
    if (after !== before) found.turn(before, after);
    turns.set(turnId, after);
  };

  /** Drops a turn once nothing can change its standing. */
  const follow = ({ type, data }: RecordedEvent): void => {
    if (besidesVerdict.has(type)) return;
    if (ended !== null) turns.delete(ended);
    ended = null;
    const { turnId } = data;
    if (typeof turnId !== 'string') return;
    if (type === 'TurnExpired' || type === 'TurnFailed') turns.delete(turnId);
    else if (endings.has(type)) ended = turnId;
  };

  return {
    needs: rulesFor,
    *take(recorded, rules, found) {
      const { turnId } = recorded.data;
      const output = typeof turnId === 'string' ? outputs.get(turnId) : undefined;
      if (task.trial === undefined ? !isAsked(recorded) : rulesFor(recorded) === undefined) replay.pass(recorded);
      else {
        const again: RulesAgain =
          task.trial === undefined ? { trial: false, rules } : { trial: true, rules: task.trial, then: rules };
        for (const decided of yield* replay.take(recorded, again, output)) note(decided, again, found);
      }
      follow(recorded);
    },
  };
};

/** The rules of a trial differ, so their trace does too; and a trace that another logic makes differently has no effect. */
const withoutTrace = ({ difference, byLogic, ...decided }: DecidedAgain): DecidedAgain => ({
  ...decided,
  difference: difference === 'otherTrace' ? null : difference,
  byLogic: byLogic === undefined || byLogic === 'otherTrace' ? null : byLogic,
});

/** Events that end a turn, except for the events recorded alongside a verdict. */
const endings: ReadonlySet<string> = new Set(['VerdictReached', 'VerdictRefused', 'DirectiveGiven', 'ContextBuilt']);
