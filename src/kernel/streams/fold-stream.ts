import type { EventStore, RecordedEvent, StreamPage } from '../../ports/event-store.js';
import type { Moment } from '../../ports/snapshots.js';
import { firstHead, type Fold, type Head, nextHead } from './fold.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import type { SavedState, Snapshotting } from './snapshotting.js';
import { pagesOf } from './stream-pages.js';

/** Where streams are read, and where their states are saved and found. */
export type StreamSource = { readonly events: Pick<EventStore, 'read'>; readonly snapshots: Snapshotting };

/**
 * How many snapshots are tried. If the stream does not hold a snapshot's event, an older snapshot is looked up; after this many, the stream is folded
 * from its first event.
 */
const SNAPSHOT_TRIES = 2;

/** A fold yields to other work after this many events. Most take microseconds, but a change of large data copies its members. */
const FOLDED_AT_ONCE = 50;

/** A moment after every event. */
const NOW: Moment = { revision: Number.MAX_SAFE_INTEGER };

/**
 * Folds a stream up to its last event not beyond `moment`, page by page, and yields to other work in between. It starts at a snapshot whose event the
 * stream holds, or else at the first event.
 * @throws what the event store throws
 */
export const foldStream = async <State>(
  source: StreamSource,
  stream: string,
  fold: Fold<State>,
  moment: Moment = NOW,
): Promise<Head<State>> => {
  let bound = moment;
  for (let tries = 0; tries < SNAPSHOT_TRIES; tries += 1) {
    const saved = await source.snapshots.find(stream, fold, bound);
    if (saved === null) break;
    const { head, lastRevision } = await foldFromSaved(source, stream, fold, saved, moment);
    if (head !== null) return head;
    // An older backup was restored: snapshots of later events are ahead of the stream, but the ones below are good.
    bound = { revision: Math.min(lastRevision, saved.revision - 1) };
  }
  return foldOn(source, stream, fold, firstHead(fold), moment);
};

/** Folds the events after a head. @throws what the event store throws */
export const foldOn = async <State>(
  { events, snapshots }: StreamSource,
  stream: string,
  fold: Fold<State>,
  from: Head<State>,
  moment: Moment = NOW,
): Promise<Head<State>> => {
  let head = from;
  for await (const page of pagesUpTo(events, stream, from.revision + 1, moment)) {
    for (const event of page.events) {
      head = await afterStored(snapshots, fold, head, event);
      snapshots.passed(stream, fold, head);
    }
  }
  return head;
};

/**
 * The head after an event that was read. If states of the stream are saved, the event is checked first: a snapshot has a seal of its own, and would
 * otherwise keep what somebody had written into the stream, even after the stream is whole again.
 */
const afterStored = async <State>(
  snapshots: Snapshotting,
  fold: Fold<State>,
  head: Head<State>,
  event: RecordedEvent,
): Promise<Head<State>> => {
  const isGood = head.isGood && (fold.snapshots === undefined || (await snapshots.isGood(event, head.hash)));
  return { ...nextHead(fold, head, event), isGood };
};

/**
 * Like `foldOn`, from a saved state. The head is null if the stream does not hold that state's event, or holds it beyond `moment`; `lastRevision` is
 * then the stream's.
 */
const foldFromSaved = async <State>(
  source: StreamSource,
  stream: string,
  fold: Fold<State>,
  { revision, hash, state }: SavedState<State>,
  moment: Moment,
): Promise<{ readonly head: Head<State> | null; readonly lastRevision: number }> => {
  let head: Head<State> | null = null;
  let lastRevision = -1;
  for await (const page of pagesUpTo(source.events, stream, revision, moment)) {
    lastRevision = page.lastRevision;
    for (const event of page.events) {
      if (head === null) {
        if (event.revision !== revision || event.meta.hash !== hash) return { head, lastRevision };
        head = { revision, hash, at: event.meta.at, state, isGood: true };
        continue;
      }
      head = await afterStored(source.snapshots, fold, head, event);
      source.snapshots.passed(stream, fold, head);
    }
  }
  return { head, lastRevision };
};

/** The events of a stream from a revision on, up to `moment`, in short pages; yields to other work between two of them. */
async function* pagesUpTo(
  events: Pick<EventStore, 'read'>,
  stream: string,
  from: number,
  moment: Moment,
): AsyncGenerator<StreamPage, void, undefined> {
  const range = { direction: 'forwards', from, ...('revision' in moment ? { to: moment.revision } : {}) } as const;
  const beyond = ({ revision, meta }: RecordedEvent): boolean =>
    'revision' in moment ? revision > moment.revision : Date.parse(meta.at) > moment.timeMs;
  for await (const page of pagesOf(events, stream, range)) {
    const end = page.events.findIndex(beyond);
    const count = end < 0 ? page.events.length : end;
    for (let at = 0; at === 0 || at < count; at += FOLDED_AT_ONCE) {
      if (at > 0) await yieldToEventLoop();
      yield { ...page, events: page.events.slice(at, Math.min(at + FOLDED_AT_ONCE, count)) };
    }
    if (end >= 0) return;
  }
}
