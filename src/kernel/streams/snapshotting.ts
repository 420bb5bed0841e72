import type { Json } from '../base/json.js';
import { weightOf } from '../base/weight.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { Moment, Snapshot, Snapshots } from '../../ports/snapshots.js';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import type { Seals } from '../crypto/seals.js';
import { openState, sealState } from './sealed-snapshot.js';
import type { EventChecks } from './event-checks.js';
import type { Fold, Head } from './fold.js';
import type { RecordedEvent } from '../../ports/event-store.js';

/** How many revisions lie between two snapshots of a stream, and so the maximum number of events that are folded after one. */
export const SNAPSHOT_EVERY = 1_000;
/** How long to wait for a snapshot, in milliseconds. After that the stream is folded from its beginning. */
export const SNAPSHOT_WAIT_MS = 300;
/** How many snapshots one process saves at the same time. Further ones are skipped: the next multiple makes up for them. */
export const SNAPSHOT_SAVES = 2;
/** The largest state that is saved, in characters of JSON: serialising a larger one would block all other work. */
export const SNAPSHOT_CHARS = 4 * 1024 * 1024;
/** The maximum weight of a state that is serialised: a character of JSON weighs about two bytes, or somewhat more in a list of ids. */
const SNAPSHOT_WEIGHT = 2 * SNAPSHOT_CHARS;

/** A saved state, and the event that its stream must hold. */
export type SavedState<State> = { readonly revision: number; readonly hash: string; readonly state: State };

/** How folding finds and saves states. Nothing here fails, and no call waits for a save. */
export type Snapshotting = {
  /** The latest state of a stream that is not beyond `moment`; null if there is none, or it did not come in time. */
  find<State>(stream: string, fold: Fold<State>, moment: Moment): Promise<SavedState<State> | null>;
  /** Whether a stored event is what was recorded after the event with this hash. */
  isGood(event: RecordedEvent, prevHash: string): Promise<boolean>;
  /** Notes a durable head, and saves it if a snapshot is due and it is good. */
  passed<State>(stream: string, fold: Fold<State>, head: Head<State>): void;
};

/** Every stream is folded from its beginning, and nothing is saved. */
export const withoutSnapshots: Snapshotting = {
  find: () => Promise.resolve(null),
  isGood: () => Promise.resolve(true),
  passed: () => undefined,
};

export type SnapshottingDeps = {
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  /** Of snapshots. */
  readonly seals: Seals;
  readonly isBroken: EventChecks['isBroken'];
};

/** @param every for tests: how many revisions lie between two snapshots */
export const createSnapshotting = (
  { snapshots, clock, log, seals, isBroken }: SnapshottingDeps,
  { every = SNAPSHOT_EVERY }: { readonly every?: number } = {},
): Snapshotting => {
  let saving = 0;
  // An unavailable store is reported once, not for every stream.
  let away = false;
  const failed = (err: unknown): void => {
    if (!away) log.warn({ err }, 'Snapshots cannot be read or saved; long streams are folded from the start');
    away = true;
  };
  const ask = async (stream: string, version: number, moment: Moment): Promise<Snapshot | null> => {
    try {
      const found = await inTime(clock, snapshots.latest(stream, version, moment));
      away = false;
      return found;
    } catch (err) {
      failed(err);
      return null;
    }
  };
  const save = async (stream: string, version: number, { revision, hash, at, state }: Head<unknown>): Promise<void> => {
    // Saves after the waiting caller has its answer.
    await yieldToEventLoop();
    try {
      if (weightOf(state) > SNAPSHOT_WEIGHT) return;
      const text = JSON.stringify(state);
      if (text.length > SNAPSHOT_CHARS) return;
      const sealed = sealState(seals, { stream, version, revision, hash }, text);
      await snapshots.save({ stream, version, revision, hash, atMs: Date.parse(at), state: sealed });
      away = false;
    } catch (err) {
      failed(err);
    } finally {
      saving -= 1;
    }
  };
  return {
    find: async (stream, { snapshots: form }, moment) => {
      const found = form === undefined ? null : await ask(stream, form.version, moment);
      const opened = found === null ? null : openState(seals, found);
      if (opened === 'changed') log.warn({ stream, revision: found?.revision }, 'Dropped a snapshot that was changed');
      if (found === null || opened === null || opened === 'changed') return null;
      const state = form?.restore(parsed(opened.state), found.revision) ?? null;
      return state === null ? null : { revision: found.revision, hash: found.hash, state };
    },
    isGood: async (event, prevHash) => event.meta.prevHash === prevHash && !(await isBroken(event)),
    passed: (stream, { snapshots: form }, head) => {
      const due = form !== undefined && head.isGood && head.revision > 0 && head.revision % every === 0;
      if (!due || saving >= SNAPSHOT_SAVES) return;
      saving += 1;
      void save(stream, form.version, head);
    },
  };
};

/** The JSON of a text; text that is not JSON is not a valid state either. */
const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
};

/**
 * The time also runs out while this process is busy and the answer waits to be read, so the answer gets one more turn of the event loop.
 * @throws what `asked` fails with in time, or an Error when it is late; its outcome is then ignored
 */
const inTime = async <T>(clock: Clock, asked: Promise<T>): Promise<T> => {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = (): void => reject(new Error(`no response within ${SNAPSHOT_WAIT_MS} ms`));
    cancel = clock.after(SNAPSHOT_WAIT_MS, () => void yieldToEventLoop().then(tooLate));
  });
  return Promise.race([asked, late]).finally(cancel);
};
