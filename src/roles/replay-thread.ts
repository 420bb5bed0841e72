import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

import { systemClock } from '../adapters/system/clock.js';
import { createHand, type ReplayHand } from '../features/replays/replay-part.js';
import { openRulesets } from '../features/rules/rulesets.js';
import { StreamWriters } from '../kernel/streams/stream-writers.js';
import { defined } from '../kernel/base/defined.js';
import { Rejection } from '../kernel/base/rejection.js';
import type { EventStore } from '../ports/event-store.js';
import type { ReplaySource, ThreadReply, ThreadRequest } from './replay-messages.js';

/** A `nice` value: serving requests takes precedence when both need the processor. */
const PRIORITY = 15;

// On other systems the priority applies to the whole process.
if (process.platform === 'linux') setPriority(0, PRIORITY);

const openEvents = async (source: ReplaySource): Promise<Pick<EventStore, 'read'>> => {
  if (source.kind === 'file') {
    const { openEventReader } = await import('../adapters/embedded/event-reader.js');
    return openEventReader(source.file);
  }
  const { EventStoreDb } = await import('../adapters/eventstore/event-store.js');
  return new EventStoreDb({ ...source, listOpen: () => Promise.resolve([]) });
};

const events = await openEvents(workerData as ReplaySource);
// This thread only reads rules; other threads and processes write them.
const writers = new StreamWriters(events as EventStore, systemClock, { shared: true });
const rulesets = openRulesets(writers, events);
const begin = createHand({ events, clock: systemClock, rulesOf: (...of) => rulesets.version(...of) });
const slices = new Map<number, ReplayHand>();
const running = new Map<number, AbortController>();

const handOf = (slice: number): ReplayHand => {
  const hand = slices.get(slice);
  if (hand === undefined) throw new Error('this slice is over');
  return hand;
};

const reasonOf = (
  error: unknown,
): { readonly refused: Extract<ThreadReply, { refused: unknown }>['refused'] } | { readonly failed: string } =>
  error instanceof Rejection
    ? {
        refused: {
          ...{ code: error.code, message: error.message, details: error.details },
          ...defined({ retryAfter: error.retryAfter }),
        },
      }
    : { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };

const answer = async (
  call: number,
  work: (signal: AbortSignal) => Promise<Extract<ThreadReply, { done: unknown }>['done']>,
) => {
  const abort = new AbortController();
  running.set(call, abort);
  let reply: ThreadReply;
  try {
    reply = { call, done: await work(abort.signal) };
  } catch (error) {
    reply = { call, ...reasonOf(error) };
  }
  running.delete(call);
  parentPort?.postMessage(reply);
};

parentPort?.on('message', (request: ThreadRequest) => {
  switch (request.type) {
    case 'slice':
      slices.set(request.slice, begin(request.setting));
      break;
    case 'part':
      void answer(request.call, async (signal) => handOf(request.slice).part(request.mind, signal));
      break;
    case 'findings':
      void answer(request.call, async () => handOf(request.slice).findings());
      break;
    case 'abort':
      running.get(request.call)?.abort();
      break;
    case 'drop':
      slices.delete(request.slice);
  }
});
