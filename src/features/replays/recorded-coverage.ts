import { npcEvents, type NpcEvent } from '../npcs/domain/events.js';
import type { RuledDecision } from '../turns/domain/rule-use.js';
import { rulesetDigest } from '../rules/ruleset-digest.js';
import { type Coverage, type CoverageCount, countCoverage } from './domain/rule-coverage.js';
import type { DirectiveRuleSet, RulesetUsed } from '../rules/domain/ruleset.js';
import type { UnknownEvent } from '../../kernel/base/decoder.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { FIRST_EVENT_SEARCH } from '../../kernel/streams/first-event-search.js';
import { type HistoryTimes, revisionsWithin } from '../../kernel/streams/history-filter.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';

/** How much one response examines: one or two seconds of work. Other work runs in between. */
const COVERED_EVENTS = 20_000;
const COVERED_MINDS = 500;
/** How many rules of decisions are counted before other work runs. */
const RULES_AT_ONCE = 2_000;

/** Where the counting continues: a mind, and the revision there. */
export type CoveragePlace = { readonly npcId: string; readonly from: number };

export type CoverageQuery = {
  readonly tenant: string;
  readonly set: DirectiveRuleSet;
  readonly times: HistoryTimes;
  readonly at?: CoveragePlace;
  /** The minds that count, in order, starting with a given one. Minds without an event since a given time may be left out. */
  readonly minds: (from: string | undefined) => AsyncIterable<string>;
};

type CoverageDeps = { readonly events: Pick<EventStore, 'read'> };

/** The decision of an event that recorded its rules; null for any other. */
const decisionIn = (event: NpcEvent | UnknownEvent): RuledDecision | null => {
  switch (event.type) {
    case 'VerdictReached':
    case 'VerdictRefused':
      return { ...event.data.grounds, verdict: event.data.verdict };
    case 'DirectiveGiven':
    case 'ContextBuilt':
      return { rules: event.data.rules, verdict: null };
    default:
      return null;
  }
};

/** The rules with which a turn was opened; null if its opening is not found, or it had none. */
const rulesAtOpening = async (
  { events }: CoverageDeps,
  stream: string,
  turnId: string,
): Promise<RulesetUsed | null> => {
  const from = parseProcessId(turnId)?.revision;
  if (from === undefined) return null;
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from }, FIRST_EVENT_SEARCH)) {
    for (const recorded of page.events) {
      if (recorded.type !== 'TurnOpened' || recorded.data['turnId'] !== turnId) continue;
      const event = npcEvents.decode(recorded);
      return event.type === 'TurnOpened' ? event.data.ruleset : null;
    }
  }
  return null;
};

/** Whether a recorded reference names this content. The oldest events have no digest. */
const isOf = (
  { rulesetId, version, digest }: Required<Pick<RulesetUsed, 'rulesetId' | 'version' | 'digest'>>,
  ref: RulesetUsed,
): boolean => ref.rulesetId === rulesetId && ref.version === version && (ref.digest ?? digest) === digest;

type Stretch = { readonly npcId: string; readonly stream: string; readonly from: number; readonly to: number };

/** Counts the decisions of one mind. @returns how many events were looked at, and where to continue; absent at its end */
const countMind = async (
  deps: CoverageDeps,
  of: Required<Pick<RulesetUsed, 'rulesetId' | 'version' | 'digest'>>,
  count: CoverageCount,
  { npcId, stream, from, to, most }: Stretch & { readonly most: number },
): Promise<{ readonly looked: number; readonly next?: number }> => {
  const opened = new Map<string, RulesetUsed | null>();
  const range = { direction: 'forwards', from, ...(to === Infinity ? {} : { to }) } as const;
  let [looked, rules, next] = [0, 0, from];
  const rulesOf = async (event: NpcEvent): Promise<RulesetUsed | null> => {
    if (event.type === 'DirectiveGiven' || event.type === 'ContextBuilt') return event.data.ruleset;
    if (event.type !== 'VerdictReached' && event.type !== 'VerdictRefused') return null;
    const { asked, turnId } = event.data;
    if (asked !== undefined) return asked.ruleset;
    return opened.has(turnId) ? (opened.get(turnId) ?? null) : rulesAtOpening(deps, stream, turnId);
  };
  for await (const page of pagesOf(deps.events, stream, range)) {
    for (const recorded of page.events) {
      const event = npcEvents.decode(recorded);
      if (event.type === 'TurnOpened') opened.set(event.data.turnId, event.data.ruleset);
      const decision = decisionIn(event);
      if (decision === null || event.type === 'Unknown') continue;
      const { turnId = null } = event.data as { readonly turnId?: string };
      const ref = await rulesOf(event);
      if (turnId !== null) opened.delete(turnId);
      if (ref === null || !isOf(of, ref)) continue;
      count.add(decision, { npcId, turnId, revision: recorded.revision });
      rules += decision.rules.length;
      if (rules < RULES_AT_ONCE) continue;
      rules = 0;
      await yieldToEventLoop();
    }
    looked += page.events.length;
    next = (page.events.at(-1)?.revision ?? next - 1) + 1;
    if (looked >= most && next <= Math.min(to, page.lastRevision)) return { looked, next };
  }
  return { looked };
};

/**
 * The uses of the rules of one version in the decisions of some minds, as far as one response examines them.
 * @throws what the event store and `minds` throw
 */
export const recordedCoverage = async (
  deps: CoverageDeps,
  { tenant, set, times, at, minds }: CoverageQuery,
): Promise<Coverage & { readonly next?: CoveragePlace }> => {
  const count = countCoverage(set);
  const of = { rulesetId: set.rulesetId, version: set.version, digest: await rulesetDigest(set) };
  let [looked, seen] = [0, 0];
  for await (const npcId of minds(at?.npcId)) {
    if (looked >= COVERED_EVENTS || seen >= COVERED_MINDS) return { ...count.counted(), next: { npcId, from: 0 } };
    const stream = npcStream(tenant, npcId);
    const { first, last } = await revisionsWithin(deps.events, stream, times);
    seen += 1;
    // A mind with few events did not wait for a page, so yield here.
    await yieldToEventLoop();
    const from = Math.max(first, at?.npcId === npcId ? at.from : 0);
    if (from > last) continue;
    const most = COVERED_EVENTS - looked;
    const done = await countMind(deps, of, count, { npcId, stream, from, to: last, most });
    looked += done.looked;
    if (done.next !== undefined) return { ...count.counted(), next: { npcId, from: done.next } };
  }
  return count.counted();
};
