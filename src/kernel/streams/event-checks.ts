import { LRUCache } from 'lru-cache';

import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import { Rejection } from '../base/rejection.js';
import { parseNpcStream } from '../base/stream-names.js';
import { inSlices } from '../concurrency/in-slices.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import type { Seals } from '../crypto/seals.js';
import { contentHash, GENESIS_HASH } from './hash-chain.js';
import { pagesOf } from './stream-pages.js';

/** How many streams' checked beginnings, and how many reported events, are remembered. */
const CHECKED_KEPT = 10_000;
const REPORTED_KEPT = 1_000;

/** Decides whether stored events are what this server, or another with its secret, recorded. Errors of the event store are propagated. */
export type EventChecks = {
  /**
   * Whether an event does not contain what its hash was made from, or lacks the seal that fits its hash. An event without a seal is not judged if the
   * store may have such events: only `requireGood` finds out.
   */
  readonly isBroken: (event: RecordedEvent) => Promise<boolean>;
  /** @throws Rejection CHAIN_BROKEN for the first of these events that is not good */
  requireGood(events: readonly RecordedEvent[]): Promise<void>;
  /**
   * Requires that every event of a stream up to a revision is good and follows the one before it. What was checked once is not read again, so a call
   * that was aborted has made progress.
   * @throws Rejection CHAIN_BROKEN; the reason of the signal
   */
  requireWhole(stream: string, upTo: number, signal: AbortSignal): Promise<void>;
};

export type EventChecksDeps = {
  readonly events: Pick<EventStore, 'read'>;
  /** Of events. */
  readonly seals: Seals;
  /** Whether an event without a seal, whose hash fits, is from before the upgrade; null if the store has no such events. */
  readonly isFromBefore: ((event: RecordedEvent) => Promise<boolean>) | null;
  readonly log: Pick<Log, 'error'>;
  readonly metrics: Pick<Metrics, 'count'>;
};

/** The refusal to sign anything about an event. */
export const chainBroken = (stream: string, revision: number): Rejection => {
  const mind = parseNpcStream(stream);
  const about = mind === null ? { stream } : { npcId: mind.npcId };
  return new Rejection('CHAIN_BROKEN', { details: { ...about, revision } });
};

/** Whether an event contains what its hash was made from. What cannot be written as JCS was not made by a server. */
export const fitsItsHash = (event: RecordedEvent): Promise<boolean> =>
  inSlices(contentHash(event)).then(
    (hash) => hash === event.meta.hash,
    () => false,
  );

/** Whether something was refused because a stored event is not what was recorded. */
export const isChainBroken = (error: unknown): error is Rejection =>
  error instanceof Rejection && error.code === 'CHAIN_BROKEN';

/**
 * Whether an event does not contain what its hash was made from, or has another seal than its hash.
 * @param mayLackSeal whether a server without seals may have recorded it
 */
export const isChanged = async (seals: Seals, event: RecordedEvent, mayLackSeal: boolean): Promise<boolean> => {
  const { hash, mac } = event.meta;
  const isSealWrong = mac === undefined ? !mayLackSeal : typeof mac !== 'string' || !seals.fits(hash, mac);
  return isSealWrong || !(await fitsItsHash(event));
};

/** The beginning of a stream that was checked; `unsealed` is its last event without a seal, if that is still to be judged. */
type Checked = { readonly revision: number; readonly hash: string; readonly unsealed: RecordedEvent | null };

export const createEventChecks = ({ events, seals, isFromBefore, log, metrics }: EventChecksDeps): EventChecks => {
  const checked = new LRUCache<string, Checked>({ max: CHECKED_KEPT });
  const reported = new LRUCache<string, true>({ max: REPORTED_KEPT });
  const refuse = ({ stream, revision }: Pick<RecordedEvent, 'stream' | 'revision'>): never => {
    const place = `${stream} ${String(revision)}`;
    if (!reported.has(place)) {
      metrics.count('brokenEvents');
      log.error({ stream, revision }, 'A stored event is not what was recorded; nothing about it is signed');
      reported.set(place, true);
    }
    throw chainBroken(stream, revision);
  };
  const isSealed = ({ meta }: RecordedEvent): boolean => meta.mac !== undefined;
  const isBroken = (event: RecordedEvent): Promise<boolean> => isChanged(seals, event, isFromBefore !== null);
  const requireKnown = async (event: RecordedEvent | null): Promise<void> => {
    if (event !== null && !((await isFromBefore?.(event)) ?? false)) refuse(event);
  };
  return {
    isBroken,
    requireGood: async (asked) => {
      for (const event of asked) {
        if (await isBroken(event)) refuse(event);
        if (!isSealed(event)) await requireKnown(event);
      }
    },
    requireWhole: async (stream, upTo, signal) => {
      let { revision, hash, unsealed } = checked.get(stream) ?? { revision: -1, hash: GENESIS_HASH, unsealed: null };
      if (revision < upTo) {
        const range = { direction: 'forwards', from: revision + 1, to: upTo } as const;
        for await (const page of pagesOf(events, stream, range)) {
          signal.throwIfAborted();
          for (const event of page.events) {
            if (event.meta.prevHash !== hash || (await isBroken(event))) refuse(event);
            ({ revision } = event);
            ({ hash } = event.meta);
            if (!isSealed(event)) unsealed = event;
            await yieldToEventLoop();
          }
          checked.set(stream, { revision, hash, unsealed });
        }
        if (revision < upTo) refuse({ stream, revision: revision + 1 });
      }
      // The chain up to it was followed, so all before it are as good as it is.
      await requireKnown(unsealed);
      checked.set(stream, { revision, hash, unsealed: null });
    },
  };
};
