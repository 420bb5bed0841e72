import { LRUCache } from 'lru-cache';

import { type ReplayFindings, noFindings } from './domain/findings.js';
import type { DirectiveRuleSet, RulesetUsed } from '../rules/domain/ruleset.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { Clock } from '../../ports/clock.js';
import type { EventStore } from '../../ports/event-store.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import { type CountedMind, countMind, isBeyond, type ReplayTask } from './count-mind.js';
import { gatherFindings, type FoundSoFar, type KnownFindings } from './gather-findings.js';
import { isSame } from './differences.js';

/** How many unfinished minds are kept between two parts; others are replayed from their first event. */
const KEPT_MINDS = 16;

/** After how much work other work runs, in milliseconds. */
const WORK_MS = 4;

/** A mind, and the revision from which its decisions are not counted yet. */
export type MindPart = { readonly npcId: string; readonly next: number };
/** `next`: where the mind continues, null if it is finished. `events`: how many events were read beyond those that were counted before. */
export type PartResult = { readonly next: number | null; readonly events: number };

/** The thread of a part ended while it ran: its mind may be the reason, or the machine. */
export class ThreadEnded extends Rejection {
  constructor() {
    super('BUSY', { retryAfter: 1 });
  }
}

/** Processes parts of one slice, one after the other. */
export type ReplayHand = {
  /**
   * Runs until the mind is finished, or `isOver` is true between two pages. @throws errors from the event store and the rules, ThreadEnded, and the
   * reason of the signal
   */
  part(mind: MindPart, signal: AbortSignal): Promise<PartResult>;
  /** The findings of its parts. */
  findings(): Promise<ReplayFindings>;
  /** Releases it; it is not used afterwards. */
  drop(): void;
};

export type PartDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** A version of rules as it was registered; null if it is not available. */
  readonly rulesOf: (tenant: string, ref: RulesetUsed) => Promise<DirectiveRuleSet | null>;
};

type BegunMind = { readonly counted: CountedMind; readonly next: number };

/** The description of a slice, for each hand that takes part. `ms`: its time limit, from its beginning. */
export type SliceTask = {
  readonly task: ReplayTask;
  readonly known: KnownFindings;
  readonly ms: number;
};

/** The rules on trial if they are the same as these, so that a trial recognises them. */
const asOnTrial = ({ trial }: ReplayTask, rules: DirectiveRuleSet | null): DirectiveRuleSet | null =>
  trial !== undefined && rules !== null && isSame(trial, rules) ? trial : rules;

/** Processes parts in this thread, one slice after the other or several in turn. */
export const createHand = ({ events, clock, rulesOf }: PartDeps): ((slice: SliceTask) => ReplayHand) => {
  const kept = new LRUCache<string, BegunMind>({ max: KEPT_MINDS });

  return ({ task, known, ms }) => {
    const found = gatherFindings(known);
    const untilMs = clock.monotonicMs() + ms;
    const versions = new Map<string, DirectiveRuleSet | null>();
    const versionOf = async (ref: RulesetUsed): Promise<DirectiveRuleSet | null> => {
      // Built-in sets of one version are told apart by their digest.
      const key = `${ref.rulesetId}/${String(ref.version)}/${ref.digest ?? ''}`;
      const known = versions.get(key);
      if (known !== undefined) return known;
      const rules = asOnTrial(task, await rulesOf(task.tenant, ref));
      versions.set(key, rules);
      return rules;
    };

    return {
      part: async ({ npcId, next }, signal) => {
        const key = `${task.replayId} ${npcId}`;
        const before = kept.get(key);
        kept.delete(key);
        const isKept = before?.next === next;
        const counted = isKept ? before.counted : countMind(npcId, task);
        // Events that were counted before must be folded again, and the turns that were open then must be counted, but not a second time.
        const uncounted = gatherFindings(noFindings);
        let read = 0;
        let restedMs = clock.monotonicMs();
        const range = { direction: 'forwards', from: isKept ? next : 0 } as const;
        for await (const page of pagesOf(events, npcStream(task.tenant, npcId), range)) {
          signal.throwIfAborted();
          for (const recorded of page.events) {
            if (isBeyond(task, recorded)) return { next: null, events: read };
            const ref = counted.needs(recorded);
            const rules = ref === undefined || ref === null ? null : await versionOf(ref);
            const into: FoundSoFar = recorded.revision < next ? uncounted : found;
            await inSlices(counted.take(recorded, rules, into));
            if (recorded.revision >= next) read += 1;
            if (clock.monotonicMs() - restedMs < WORK_MS) continue;
            await yieldToEventLoop();
            restedMs = clock.monotonicMs();
          }
          const last = page.events.at(-1)?.revision;
          if (last === undefined || last >= page.lastRevision) return { next: null, events: read };
          if (last + 1 > next && clock.monotonicMs() >= untilMs) {
            kept.set(key, { counted, next: last + 1 });
            return { next: last + 1, events: read };
          }
        }
        return { next: null, events: read };
      },
      findings: () => Promise.resolve(found.findings()),
      drop: () => undefined,
    };
  };
};
