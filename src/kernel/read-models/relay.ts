import type { Clock } from '../../ports/clock.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { RelayLease } from '../../ports/relay-lease.js';
import { pause, retryMs } from '../concurrency/pause.js';
import { withMore } from './with-more.js';

/** How many events are written together. */
const RELAY_BATCH_EVENTS = 500;
const BEYOND =
  'The checkpoint of the relay is beyond the end of the event store, perhaps because a backup was restored; starting over';
/** How often the checkpoint is written and the lease renewed, in milliseconds. What a killed relay wrote since then is written again. */
export const CHECKPOINT_MS = 500;
/** How often a relay on standby requests the lease, in milliseconds. */
export const STANDBY_MS = 1_000;

/** One attempt at writing. */
export type RelaySession = AsyncDisposable & {
  /**
   * Resolves once all of these are stored. After a failure some of them may be, and the session is over.
   * @param more whether further events already wait
   */
  write(events: readonly RecordedEvent[], more: boolean): Promise<void>;
};

/** The destination of a relay. */
export type RelayOutput = {
  /** Begins to write what comes after a position. If it throws, nothing is open. */
  open(after: number): Promise<RelaySession>;
};

export type RelayDeps = {
  readonly events: EventStore;
  readonly output: RelayOutput;
  readonly lease: RelayLease;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** How long after a write events are gathered for the next one, in milliseconds. */
  readonly gatherMs: number;
  /** Names the output in the log. */
  readonly topic: string;
  /** Identifies this process among all that may hold the lease. */
  readonly holder: string;
};

/**
 * Writes the event store's global order into its output, at least once, from the checkpoint on. The checkpoint follows what the output has
 * acknowledged. One relay of an output works, the others stand by. A relay may not yet have noticed that it lost its lease, so an output must
 * tolerate what it writes.
 */
export class Relay implements AsyncDisposable {
  readonly #deps: RelayDeps;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  /** The last position that the output has acknowledged; null while this relay stands by. */
  #position: number | null = null;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
  }

  /** Starts, and waits for any server that is unavailable. A second call does nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** How far the relay is behind the event store, in global positions; null while it stands by. @throws what the event store throws */
  async lag(): Promise<number | null> {
    if (this.#position === null) return null;
    return Math.max(0, (await this.#deps.events.lastPosition()) - this.#position);
  }

  /** Ends after the batch that is being written, and releases the lease to the next relay. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { clock, lease, holder, log, topic } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const checkpoint = await lease.take(holder);
        if (checkpoint === null) await pause(clock, STANDBY_MS, signal);
        else await this.#relay(checkpoint, () => (failures = 0));
      } catch (err) {
        failures += 1;
        log.error({ err, topic }, 'The relay was interrupted; resuming from its checkpoint');
        // Another relay may reach a server that this one cannot.
        await lease.release(holder).catch(() => undefined);
        await pause(clock, retryMs(failures), signal);
      }
    }
    await lease.release(holder).catch(() => undefined);
  }

  /** Relays until stopped or until the lease is lost. */
  async #relay(checkpoint: number, onProgress: () => void): Promise<void> {
    const { events, output, clock, gatherMs, log, topic } = this.#deps;
    const last = await events.lastPosition();
    // It belongs to another store. Some servers return nothing below a position that they do not have, and report no error.
    const isBeyond = checkpoint > last;
    if (isBeyond) log.error({ checkpoint, last, topic }, BEYOND);
    const after = isBeyond ? 0 : checkpoint;
    const session = new AbortController();
    const end = (): void => session.abort();
    const isOver = (): boolean => session.signal.aborted;
    this.#stop.signal.addEventListener('abort', end, { once: true });
    // Opening may take longer than the lease lasts without being renewed, and so may the last batch.
    const written = new AbortController();
    const keeping = this.#keep(session, written.signal, after);
    try {
      await using writing = await output.open(after);
      if (isOver()) return;
      this.#position = after;
      log.info({ position: after, topic }, 'The relay is running');
      const wait = async (): Promise<void> => {
        if (gatherMs > 0) await pause(clock, gatherMs, session.signal);
      };
      for await (const { batch, more } of withMore(
        gathered(events.subscribe({ after, signal: session.signal }), wait),
      )) {
        for (let from = 0; from < batch.length && !isOver(); from += RELAY_BATCH_EVENTS) {
          const part = batch.slice(from, from + RELAY_BATCH_EVENTS);
          await writing.write(part, more || from + part.length < batch.length);
          this.#position = part.at(-1)?.position ?? this.#position;
        }
        onProgress();
      }
    } finally {
      written.abort();
      this.#stop.signal.removeEventListener('abort', end);
      await keeping;
      this.#position = null;
    }
  }

  /** Renews the lease and moves the checkpoint until `written`, and then once more. Ends the session if the lease is lost. */
  async #keep(session: AbortController, written: AbortSignal, after: number): Promise<void> {
    const { clock, lease, holder, log, topic } = this.#deps;
    let keptMs = clock.monotonicMs();
    for (;;) {
      await pause(clock, CHECKPOINT_MS, written);
      const startMs = clock.monotonicMs();
      try {
        if (!(await lease.keep(holder, this.#position ?? after))) {
          log.info({ topic }, 'Another relay has taken over');
          session.abort();
          return;
        }
        keptMs = startMs;
      } catch (err) {
        if (startMs - keptMs >= lease.holdsMs) {
          log.error({ err, topic }, 'The relay could not renew its lease; giving it up');
          session.abort();
          return;
        }
      }
      if (written.aborted) return;
    }
  }
}

/**
 * Gathers events into batches. A lone event leaves immediately. Under load, the events of a short period leave together, because each write costs
 * every reader of the topic a round. A backlog, which comes in full batches, is not delayed.
 */
async function* gathered<Event>(
  batches: AsyncIterable<readonly Event[]>,
  wait: () => Promise<void>,
): AsyncGenerator<readonly Event[], void, undefined> {
  for await (const batch of batches) {
    yield batch;
    if (batch.length < RELAY_BATCH_EVENTS) await wait();
  }
}
