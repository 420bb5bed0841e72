import { accessFold } from './access-fold.js';
import type { HistoryAccess } from './domain/access-events.js';
import { accessStream } from '../../kernel/base/stream-names.js';
import { pause } from '../../kernel/concurrency/pause.js';
import { systemContext } from '../../kernel/streams/command-id.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Random } from '../../ports/random.js';

const MINUTE_MS = 60_000;
/** How long after the end of a minute its accesses are recorded, in milliseconds. */
const SETTLE_MS = 500;
/** How many accesses one append holds. */
const BATCH = 100;
/** One request that read a history, or acted with a scope that is not for playing. */
export type Access = Pick<HistoryAccess, 'keyId' | 'operation' | 'npcId'> & { readonly tenant: string };

export type AccessRecorder = AsyncDisposable & {
  /** Notes an access. Never waits: one that has no room is dropped, and counted. */
  note(access: Access): void;
};

export type RecordAccessDeps = CommandDeps & {
  readonly random: Random;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: Pick<Metrics, 'count'>;
  /** ANIMA_ACCESS_QUEUE: how many different accesses of all tenants wait at most. A tenant gets at most half of it. */
  readonly most: number;
};

type Waiting = Access & { readonly minuteMs: number; count: number };
/** Accesses of one tenant that are recorded together. After a failure this is repeated as the same command, so that nothing is recorded twice. */
type AccessBatch = { command: Command; readonly accesses: readonly Waiting[] };

const dataOf = ({ keyId, operation, npcId, minuteMs, count }: Waiting): HistoryAccess => ({
  ...{ keyId, operation, npcId, count },
  minute: new Date(minuteMs).toISOString(),
});

/** Accesses in batches, each of one tenant. */
const batchesOf = (accesses: readonly Waiting[]): readonly (readonly Waiting[])[] => {
  const open = new Map<string, Waiting[]>();
  const batches: Waiting[][] = [];
  for (const access of accesses) {
    let batch = open.get(access.tenant);
    if (batch === undefined || batch.length >= BATCH) {
      batch = [];
      open.set(access.tenant, batch);
      batches.push(batch);
    }
    batch.push(access);
  }
  return batches;
};

/**
 * Records accesses in the stream of their tenant, from now on until it is disposed of: one event for each key, operation, mind and minute. Any number
 * of processes may write the same streams. What was not recorded yet when a process is killed is lost: a minute's accesses, unless the event store
 * was away before.
 */
export const startAccessRecorder = (deps: RecordAccessDeps): AccessRecorder => {
  const { clock, log, metrics, most } = deps;
  const stop = new AbortController();
  const noted = new Map<string, Waiting>();
  const batches = new Set<AccessBatch>();
  let waiting = 0;
  const waitingOf = new Map<string, number>();
  const dropped = new Map<string, number>();
  let isAway = false;

  const addTo = (counts: Map<string, number>, tenant: string, count: number): void => {
    const sum = (counts.get(tenant) ?? 0) + count;
    if (sum === 0) counts.delete(tenant);
    else counts.set(tenant, sum);
  };
  const keep = (tenant: string, count: number): void => {
    waiting += count;
    addTo(waitingOf, tenant, count);
  };
  /** A tenant may have as many waiting as there is room left: however much one asks, it leaves room for the others. */
  const hasRoom = (tenant: string): boolean => (waitingOf.get(tenant) ?? 0) < most - waiting;

  const minuteNow = (): number => Math.floor(clock.now().getTime() / MINUTE_MS) * MINUTE_MS;

  /** Takes what was noted in other minutes than the one that is not over. */
  const take = (openMs: number | null): void => {
    const due: Waiting[] = [];
    for (const [key, access] of noted) {
      if (access.minuteMs === openMs) continue;
      noted.delete(key);
      due.push(access);
    }
    for (const accesses of batchesOf(due)) {
      const [{ tenant }] = accesses as readonly [Waiting];
      batches.add({ command: systemContext(deps, accessStream(tenant)), accesses });
    }
  };
  /** @returns whether it was recorded */
  const append = async (batch: AccessBatch): Promise<boolean> => {
    const { command, accesses } = batch;
    const drafts = accesses.map((access) => ({ type: 'HistoryAccessed', data: dataOf(access) }));
    try {
      await runCommand(deps, accessStream(command.tenant), accessFold, command, () => drafts);
    } catch (err) {
      if (!isAway) log.warn({ err }, 'Failed to record who read histories; retrying');
      isAway = true;
      batch.command = { ...command, resumed: true };
      return false;
    }
    isAway = false;
    batches.delete(batch);
    keep(command.tenant, -accesses.length);
    return true;
  };
  const tellDropped = (): void => {
    for (const [tenant, count] of dropped)
      log.warn({ tenant, dropped: count }, 'Some reading of histories is not recorded: too much waits to be');
    dropped.clear();
  };
  const recordDue = async (): Promise<void> => {
    take(minuteNow());
    const failing = new Set<string>();
    for (const batch of [...batches]) {
      if (stop.signal.aborted) return;
      const { tenant } = batch.command;
      if (!failing.has(tenant) && !(await append(batch))) failing.add(tenant);
    }
    tellDropped();
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await pause(clock, minuteNow() + MINUTE_MS + SETTLE_MS - clock.now().getTime(), stop.signal);
      await recordDue();
    }
  };
  const running = run();
  return {
    note: (access) => {
      const minuteMs = minuteNow();
      const { tenant, keyId, operation, npcId } = access;
      const key = JSON.stringify([tenant, keyId, operation, npcId, minuteMs]);
      const known = noted.get(key);
      if (known !== undefined) known.count += 1;
      else if (!hasRoom(tenant)) {
        addTo(dropped, tenant, 1);
        metrics.count('accessesDropped');
      } else {
        noted.set(key, { ...access, minuteMs, count: 1 });
        keep(tenant, 1);
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      take(null);
      // While the store is away, a stopping server does not wait for it.
      for (const batch of [...batches]) if (!(await append(batch))) break;
      if (waiting > 0) log.warn({ dropped: waiting }, 'Stopping before all reading of histories was recorded');
      tellDropped();
    },
  };
};
