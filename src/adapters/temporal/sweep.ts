import type { Clock } from '../../ports/clock.js';
import type { EventStore, OpenProcess } from '../../ports/event-store.js';
import type { Log } from '../../ports/log.js';
import type { ProcessRef } from '../../ports/process-runtime.js';

/** How often open processes are scanned, in milliseconds, and how soon after a scan that failed. */
const SWEEP_EVERY_MS = 60_000;
const SWEEP_RETRY_MS = 5_000;
/** How late a deadline must be, in milliseconds, before its workflow counts as lost. */
const OVERDUE_MS = 10_000;
/** How many are taken up at the same time, and how many per second. */
const AT_ONCE = 8;
const PER_SECOND = 50;

export type SweepDeps = {
  readonly events: Pick<EventStore, 'openProcesses'>;
  readonly clock: Clock;
  readonly logger: Pick<Log, 'error' | 'info'>;
  /** Takes up, in one call, those of the processes that run together; returns the others. */
  readonly takeUpTogether: (refs: readonly ProcessRef[]) => Promise<readonly ProcessRef[]>;
  /** Starts what drives the process unless it runs; safe to repeat. */
  readonly takeUp: (ref: ProcessRef) => Promise<void>;
  /** Restarts what cannot continue; called at each scan. */
  readonly renewFailing: () => Promise<void>;
};

/**
 * Takes up open processes whose workflow is lost: first all of them, then every minute those whose deadline passed without an action. The others need
 * no scan: the next update starts their workflow again.
 */
export class OpenProcessSweep {
  readonly #deps: SweepDeps;
  #began = false;
  #all = true;
  #stopped = false;
  #cancel: (() => void) | null = null;
  #wake: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: SweepDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#began) return;
    this.#began = true;
    this.#sweepNow();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    this.#wake?.();
    await this.#running;
  }

  #sweepNow(): void {
    this.#running = this.#sweep().then(
      () => this.#again(SWEEP_EVERY_MS),
      (error: unknown) => {
        this.#deps.logger.error({ err: error }, 'Failed to resume open processes; retrying');
        this.#again(SWEEP_RETRY_MS);
      },
    );
  }

  #again(ms: number): void {
    if (!this.#stopped) this.#cancel = this.#after(ms, () => this.#sweepNow());
  }

  async #sweep(): Promise<void> {
    await this.#deps.renewFailing();
    const open = (await this.#deps.events.openProcesses()).filter((process) => this.#all || this.#isOverdue(process));
    const refs = open.map(({ name, id, stream }) => ({ process: name, id, stream }));
    const alone = await this.#deps.takeUpTogether(refs);
    for (let from = 0; from < alone.length && !this.#stopped; from += AT_ONCE) {
      if (from > 0) await this.#pause((1_000 * AT_ONCE) / PER_SECOND);
      await Promise.all(alone.slice(from, from + AT_ONCE).map((ref) => this.#deps.takeUp(ref)));
    }
    if (open.length > 0) this.#deps.logger.info({ processes: open.length }, 'Checked open processes');
    this.#all = false;
  }

  #isOverdue({ due }: OpenProcess): boolean {
    return due === null || Date.parse(due) + OVERDUE_MS < this.#deps.clock.now().getTime();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #after(ms: number, run: () => void): () => void {
    return this.#deps.clock.after(ms, run);
  }
}
