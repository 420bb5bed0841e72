import { logOfEvent } from './domain/logged-streams.js';
import { logStream } from '../../kernel/base/stream-names.js';
import type { Log } from '../../ports/log.js';
import type { Random } from '../../ports/random.js';
import { pause } from '../../kernel/concurrency/pause.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { systemContext } from '../../kernel/streams/command-id.js';
import type { Clock } from '../../ports/clock.js';
import { logFold } from './log-fold.js';
import { beginRound, type MakeCheckpointDeps } from './make-checkpoint.js';

/** How many events are read at a time. */
const PAGE = 500;

export type TickerDeps = MakeCheckpointDeps & {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, 'warn'>;
  /** Every tenant that this process knows of at the moment. */
  readonly tenants: () => readonly string[];
  /** ANIMA_CHECKPOINT_MINUTES, in milliseconds. */
  readonly periodMs: number;
};

/** The unlogged writes of a tenant, as far as is known: the first and the last position. */
type WrittenSpan = { readonly first: number; readonly last: number };
/** All unlogged writes by tenant, and the position up to which everything was looked at. */
type UnloggedWrites = { readonly spans: Map<string, WrittenSpan>; readonly after: number };

/** Reads new events in the global order, and notes for which tenants something was written that their logs hold: one scan serves all tenants. */
const createScan = ({ events, writers, tenants }: Pick<TickerDeps, 'events' | 'writers' | 'tenants'>) => {
  const spans = new Map<string, WrittenSpan>();
  let after: number | null = null;
  let at = 0;
  /**
   * Where the scan begins after a start: events that are in the logs of all tenants need not be looked at. A log that cannot be read does not hold up
   * the others.
   */
  const begin = async (): Promise<number> => {
    let lowest: number | null = null;
    let failure: Error | null = null;
    for (const tenant of tenants()) {
      try {
        const { through } = (await writers.current(logStream(tenant), logFold)).state;
        lowest = Math.min(lowest ?? through, through);
      } catch (error) {
        failure = error as Error;
      }
    }
    if (lowest === null && failure !== null) throw failure;
    return lowest ?? 0;
  };
  return async (signal: AbortSignal): Promise<UnloggedWrites> => {
    if (after === null) at = after = await begin();
    while (!signal.aborted) {
      const page = await events.readAll(at, PAGE);
      const last = page.at(-1);
      if (last === undefined) break;
      for (const event of page) {
        // Includes tenants that this process does not know yet.
        const owner = logOfEvent(event)?.tenant;
        const { position } = event;
        if (owner !== undefined) spans.set(owner, { first: spans.get(owner)?.first ?? position, last: position });
      }
      at = last.position;
      await yieldToEventLoop();
    }
    return { spans, after };
  };
};

/**
 * Begins a round of the log of each tenant that was written to, at most once per period, from now on until it is disposed of. Any number of
 * processes may run it at the same time: a log has one round at a time, and none that would add nothing. A failure is logged once until it works
 * again, and a failing log does not hold up the others.
 */
export const startCheckpoints = (deps: TickerDeps): AsyncDisposable => {
  const { clock, periodMs, log, writers, tenants } = deps;
  const stop = new AbortController();
  const scan = createScan(deps);
  const away = new Set<string>();
  /** Whether another process, or a request, has just made one. A time in the future, after a clock was set back, does not count. */
  const isRecent = (madeAt: string): boolean => {
    const ageMs = clock.now().getTime() - Date.parse(madeAt);
    return ageMs >= 0 && ageMs < periodMs / 2;
  };
  /** @returns whether the log holds all of it: writes beyond a round that others began are left to the next. */
  const logged = async (tenant: string, { first, last }: WrittenSpan, after: number): Promise<boolean> => {
    const stream = logStream(tenant);
    const { state } = await writers.current(stream, logFold);
    if (state.through >= last) return true;
    if (state.last !== null && isRecent(state.last.at)) return false;
    // Writes from before the scan began are not in the span.
    const news = state.through < after ? undefined : Math.max(first, state.through + 1);
    await beginRound(deps, tenant, systemContext(deps, stream), stop.signal, news);
    return false;
  };
  const tick = async (): Promise<void> => {
    const { spans, after } = await scan(stop.signal);
    const known = new Set(tenants());
    for (const [tenant, span] of spans) {
      if (stop.signal.aborted) return;
      if (!known.has(tenant)) continue;
      try {
        if (await logged(tenant, span, after)) spans.delete(tenant);
        away.delete(tenant);
      } catch (err) {
        if (!away.has(tenant)) log.warn({ err, tenant }, 'Failed to make a checkpoint of a log; retrying');
        away.add(tenant);
      }
    }
  };
  const run = async (): Promise<void> => {
    for (let isAway = false; !stop.signal.aborted;) {
      try {
        await tick();
        isAway = false;
      } catch (err) {
        if (!isAway) log.warn({ err }, 'Failed to make checkpoints of the logs; retrying');
        isAway = true;
      }
      await pause(clock, periodMs, stop.signal);
    }
  };
  // A server that has just started has other work to do first.
  const running = pause(clock, Math.min(periodMs, START_MS), stop.signal).then(run);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};

/** How long after a start the scan for earlier writes begins, in milliseconds. */
const START_MS = 60_000;
