import { LRUCache } from 'lru-cache';

import { isObject } from '../../kernel/base/json.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { chainBroken, type EventChecks } from '../../kernel/streams/event-checks.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { type Edge, growEdge, rootOfEdge, toHex } from './domain/edge.js';
import { eventHash } from './domain/leaf.js';

/** How many interrupted checks are remembered. */
const CHECKS_KEPT = 100;

/** Events of a stream that must be good, from `start`, and those among them whose hashes are in the root, from `from`, both before `to`. */
type Covered = { readonly start: number; readonly from: number; readonly to: number };

/**
 * Requires events of a stream to be good, and returns the root over the hashes of the last of them. A call that was aborted has made progress.
 * @throws Rejection CHAIN_BROKEN for the first event that is not good; the reason of the signal; errors from the event store
 */
export type GoodRoots = (stream: string, covered: Covered, signal: AbortSignal) => Promise<string>;

/** How far events were checked: `unsealed` is the last one without a seal, if it is still to be judged. */
type Checked = {
  readonly start: number;
  readonly revision: number;
  readonly hash: string;
  readonly unsealed: RecordedEvent | null;
};

/** The roots for the leaves of a log. */
export const createGoodRoots = (
  events: Pick<EventStore, 'read'>,
  checks: Pick<EventChecks, 'isBroken' | 'requireGood'>,
): GoodRoots => {
  const interrupted = new LRUCache<string, Checked>({ max: CHECKS_KEPT });
  const withNext = async (checked: Checked, event: RecordedEvent): Promise<Checked> => {
    const { stream, revision } = event;
    if (revision !== checked.revision + 1) throw chainBroken(stream, checked.revision + 1);
    if (!isObject(event.meta)) throw chainBroken(stream, revision);
    const { hash, prevHash, mac } = event.meta;
    if (await checks.isBroken(event)) await checks.requireGood([event]);
    // The last event without a seal answers for those before it only if the chain from them to it is whole.
    const isLinked = prevHash === checked.hash;
    if (checked.unsealed !== null && !isLinked) await checks.requireGood([checked.unsealed]);
    const unsealed = mac === undefined ? event : isLinked ? checked.unsealed : null;
    return { start: checked.start, revision, hash, unsealed };
  };
  return async (stream, { start, from, to }, signal) => {
    const known = interrupted.get(stream);
    const isKnown = known?.start === start && known.revision < to;
    let checked: Checked = isKnown ? known : { start, revision: start - 1, hash: '', unsealed: null };
    let edge: Edge = [];
    let size = 0;
    const range = { direction: 'forwards', from: Math.min(from, checked.revision + 1), to: to - 1 } as const;
    for await (const page of pagesOf(events, stream, range)) {
      signal.throwIfAborted();
      const hashes: Uint8Array[] = [];
      for (const event of page.events) {
        if (event.revision > checked.revision) checked = await withNext(checked, event);
        if (event.revision >= from) hashes.push(eventHash(event.meta.hash));
        await yieldToEventLoop();
      }
      edge = growEdge(edge, size, hashes, 0);
      size += hashes.length;
      interrupted.set(stream, checked);
    }
    if (checked.revision !== to - 1) throw chainBroken(stream, checked.revision + 1);
    if (checked.unsealed !== null) await checks.requireGood([checked.unsealed]);
    interrupted.delete(stream);
    return toHex(rootOfEdge(edge));
  };
};
