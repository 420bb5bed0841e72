import { logStream, npcStreamsOf } from '../../domain/shared/stream-names.js';
import type { Log } from '../../ports/log.js';
import type { Random } from '../../ports/random.js';
import { pause } from '../pacing/pause.js';
import { nextTurn } from '../pacing/next-turn.js';
import { askedBySystem } from '../streams/command-id.js';
import type { Clock } from '../../ports/clock.js';
import { logFold } from './log.js';
import { beginRound, type MakeCheckpointDeps } from './make-checkpoint.js';

/** How many events are read at once. */
const PAGE = 500;

export type TickerDeps = MakeCheckpointDeps & {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, 'warn'>;
  /** Every tenant that this process knows of at this moment. */
  readonly tenants: () => readonly string[];
  /** ANIMA_CHECKPOINT_MINUTES, in milliseconds. */
  readonly periodMs: number;
};

/** What was written for a tenant's minds since its log was looked at: the first and the last position. */
type WrittenSpan = { readonly first: number; readonly last: number };

/** Reads on in the order of all events, and notes for which tenants minds were written to: one reading serves all tenants. */
const createScan = ({ events, lanes, tenants }: Pick<TickerDeps, 'events' | 'lanes' | 'tenants'>) => {
  const written = new Map<string, WrittenSpan>();
  let at: number | null = null;
  /** Where reading begins after a start: what the logs of all tenants hold need not be looked at. */
  const begin = async (known: readonly string[]): Promise<number> => {
    let lowest = Infinity;
    for (const tenant of known)
      lowest = Math.min(lowest, (await lanes.current(logStream(tenant), logFold)).state.through);
    return Number.isFinite(lowest) ? lowest : 0;
  };
  return async (signal: AbortSignal): Promise<Map<string, WrittenSpan>> => {
    const known = tenants();
    const prefixes = known.map((tenant) => [tenant, npcStreamsOf(tenant)] as const);
    at ??= await begin(known);
    while (!signal.aborted) {
      const page = await events.readAll(at, PAGE);
      const last = page.at(-1);
      if (last === undefined) break;
      for (const { stream, position } of page) {
        if (!stream.startsWith('npc-')) continue;
        const owner = prefixes.find(([, prefix]) => stream.startsWith(prefix))?.[0];
        if (owner !== undefined) written.set(owner, { first: written.get(owner)?.first ?? position, last: position });
      }
      at = last.position;
      await nextTurn();
    }
    return written;
  };
};

/**
 * Begins a round of the log of each tenant whose minds were written to, once in a period at most, from now on until it is disposed of. Any number of
 * processes may do so at once: one round of a log runs at a time, and none that would add nothing. A failure is logged once until it works again.
 */
export const startCheckpoints = (deps: TickerDeps): AsyncDisposable => {
  const { clock, periodMs, log, lanes } = deps;
  const stop = new AbortController();
  const scan = createScan(deps);
  const tick = async (): Promise<void> => {
    const written = await scan(stop.signal);
    for (const [tenant, { first, last }] of written) {
      if (stop.signal.aborted) return;
      const stream = logStream(tenant);
      const { state } = await lanes.current(stream, logFold);
      // Another process, or a request, may just have made one.
      const isRecent = state.last !== null && clock.now().getTime() - Date.parse(state.last.at) < periodMs / 2;
      if (state.through < last) {
        if (isRecent) continue;
        await beginRound(deps, tenant, askedBySystem(deps, stream), Math.max(first, state.through + 1));
      }
      written.delete(tenant);
    }
  };
  const run = async (): Promise<void> => {
    for (let isAway = false; !stop.signal.aborted;) {
      try {
        await tick();
        isAway = false;
      } catch (err) {
        if (!isAway) log.warn({ err }, 'checkpoints of the logs cannot be made; it is tried again');
        isAway = true;
      }
      await pause(clock, periodMs, stop.signal);
    }
  };
  // A server that has just started has other things to do first.
  const running = pause(clock, Math.min(periodMs, START_MS), stop.signal).then(run);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
};

/** How long after a start what was written before it is looked for, in milliseconds. */
const START_MS = 60_000;
