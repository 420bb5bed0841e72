import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { Client, Connection } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { FailingShards } from '../../../src/adapters/temporal/failing-shards.js';
import { ProcessWorkflows } from '../../../src/adapters/temporal/process-workflows.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { loadWorkflowBundle } from '../../../src/adapters/temporal/bundle.js';
import { shardIdOf } from '../../../src/adapters/temporal/names.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import type { Rejection } from '../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { ProcessInput, ProcessRef } from '../../../src/ports/process-runtime.js';
import type { BatchReply, KnownProcess, ShardState } from '../../../workflows/temporal/process-batch.js';
import { ManualClock } from '../../support/manual-clock.js';
import { errand, errandEffects, errandRef } from '../../support/errand.js';
import { gate } from '../../support/gate.js';
import { recordHistory } from '../../support/recorded-histories.js';
import { onBehalf } from '../../support/streams.js';
import { startTemporalRuntime, type OpenTemporalRuntime } from '../../support/temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
const shards = { count: 1, processes: [errand.name] };
const HOUR_MS = 3_600_000;

describe('the shard workflow', () => {
  const held = { wait: () => Promise.resolve() };
  let connection: Connection;
  let client: Client;
  let store: MemoryEventStore;
  let at: Parameters<typeof startTemporalRuntime>[0];
  let opened: OpenTemporalRuntime;
  let asks = 0;

  beforeAll(async () => {
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace: temporalNamespace });
  });
  afterAll(() => connection.close());
  beforeEach(async () => {
    held.wait = () => Promise.resolve();
    at = { address, temporalNamespace, namespace: `test-${randomBytes(6).toString('hex')}` };
    store = new MemoryEventStore();
    await start();
  });
  afterEach(async () => {
    await handle()
      .terminate('the test is over')
      .catch(() => undefined);
    await opened[Symbol.asyncDispose]();
  });

  const start = async (): Promise<void> => {
    opened = await startTemporalRuntime(at, store, { [errand.name]: errandEffects(held) }, shards);
  };
  const handle = () => client.workflow.getHandle(shardIdOf(at.namespace, { index: 0, ...shards }));
  const newErrand = (dueMs = HOUR_MS): { ref: ProcessRef; begin: ProcessInput } => {
    const id = makeProcessId('e', -1, Date.now(), `errand ${String((asks += 1))}`);
    const deadlineAt = new Date(Date.now() + dueMs).toISOString();
    const ref = errandRef(id, npcStream('studio', `runner-${String(asks)}`));
    return { ref, begin: { type: 'begin', errandId: id, deadlineAt } };
  };
  const ask = async (ref: ProcessRef, ...inputs: readonly ProcessInput[]) =>
    (await opened.runtime.ask(ref, inputs, onBehalf(`command ${String((asks += 1))}`))).answer;
  const begun = async (dueMs?: number): Promise<ProcessRef> => {
    const { ref, begin } = newErrand(dueMs);
    expect(await ask(ref, begin)).toBe('begun');
    return ref;
  };
  const typesOf = async ({ stream }: ProcessRef) =>
    (await store.read(stream, { direction: 'forwards', limit: 100 })).events.map(({ type }) => type);
  const untilGivenUp = (ref: ProcessRef) =>
    vi.waitFor(async () => expect(await typesOf(ref)).toEqual(['ErrandBegun', 'ErrandGivenUp']), {
      timeout: 20_000,
      interval: 20,
    });
  const stateOf = () => handle().query<ShardState>('state');
  /** Replays a run, or the last one, as a worker without a cache would. */
  const replayed = async (runId?: string): Promise<History> => {
    const { workflowId } = handle();
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    await Worker.runReplayHistory({ workflowBundle: await loadWorkflowBundle() }, history);
    return history;
  };
  const updatesIn = ({ events }: History): number =>
    (events ?? []).filter(({ workflowExecutionUpdateAcceptedEventAttributes: update }) => update).length;

  it('answers each of many asks separately: refused, failing and slow ones', async () => {
    const { opened, open } = gate();
    const slow = await begun();
    const broken = await begun();
    held.wait = () => opened;
    const waits = ask(slow, { type: 'wait' });
    const behind = ask(slow, { type: 'finish' });
    const fails = expect(ask(broken, { type: 'fail' })).rejects.toThrow('the errand failed');
    const refused = expect(ask(broken, { type: 'refuse' })).rejects.toMatchObject({ code: 'CONFLICT' });
    const unknown = expect(ask(newErrand().ref, { type: 'finish' })).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
    const others = await Promise.all(Array.from({ length: 40 }, () => begun()));
    await Promise.all([fails, refused, unknown]);
    expect(await typesOf(slow)).toEqual(['ErrandBegun']);
    open();
    expect(await waits).toBe('begun');
    expect(await behind).toBe('done');
    expect(await Promise.all(others.map((ref) => ask(ref, { type: 'finish' })))).toEqual(others.map(() => 'done'));
    expect(await typesOf(slow)).toEqual(['ErrandBegun', 'ErrandDone']);
    const history = await replayed();
    // 87 asks, and those that were repeated.
    expect(updatesIn(history)).toBeLessThan(40);
    await recordHistory('history-shard-batches', history);
  });

  it('acts on deadlines in time without any asks, while later ones wait', async () => {
    const later = await begun();
    const refs = await Promise.all([begun(1_000), begun(600), begun(1_000)]);
    await Promise.all(refs.map(untilGivenUp));
    expect(await typesOf(later)).toEqual(['ErrandBegun']);
    await vi.waitFor(async () => expect((await stateOf()).states).toEqual({ begun: 1 }));
    await recordHistory('history-shard-deadlines', await replayed());
  });

  it('shows the number of processes in each state, and one of them with its transitions', async () => {
    const [open, done] = [await begun(HOUR_MS), await begun(HOUR_MS / 2)];
    const { due } = (await store.openProcesses()).find(({ id }) => id === open.id) ?? {};
    const before = await stateOf();
    expect(before).toMatchObject({ shard: { index: 0, ...shards }, states: { begun: 2 } });
    await ask(done, { type: 'finish' });
    const state = await stateOf();
    expect(state.states).toEqual({ begun: 1 });
    expect(state.nextDue).toBe(due);
    expect(state.transitions.map(({ id, on, to }) => [id, on, to])).toEqual([
      [open.id, 'begin', 'begun'],
      [done.id, 'begin', 'begun'],
      [done.id, 'finish', 'done'],
    ]);
    const known = (id: string) => handle().query<KnownProcess, [string]>('process', id);
    expect(await known(open.id)).toMatchObject({ standing: { state: 'begun', due }, transitions: [{ to: 'begun' }] });
    expect(await known(done.id)).toMatchObject({ standing: null, transitions: [{ to: 'begun' }, { to: 'done' }] });
    expect(await known('nobody')).toEqual({ standing: null, transitions: [] });
    const details = await handle().query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(details.currentDetails).toContain('Shard 1 of 1. Open: begun 1.');
  });

  it('runs no step for an ask whose caller has timed out, and runs the others beside it', async () => {
    await begun();
    const [late, inTime, always] = [newErrand(), newErrand(), newErrand()];
    const batched = ({ ref, begin }: ReturnType<typeof newErrand>, untilMs: number | null) => ({
      ref,
      inputs: [begin],
      by: onBehalf(ref.id),
      untilMs,
    });
    const before = Date.now();
    const batch = {
      bytes: 1_000,
      asks: [batched(late, before - 1_000), batched(inTime, before + HOUR_MS), batched(always, null)],
    };
    const send = (args: unknown) => handle().executeUpdate<BatchReply, [unknown]>('askBatch', { args: [args] });
    const { replies, atMs } = await send(batch);
    expect(replies).toEqual([
      { late: true },
      expect.objectContaining({ answer: 'begun' }),
      expect.objectContaining({ answer: 'begun' }),
    ]);
    expect(Math.abs(atMs - before)).toBeLessThan(60_000);
    expect((await send({ bytes: 0, asks: [batched(late, before - 1_000)] })).replies).toEqual([{ late: true }]);
    expect(await typesOf(late.ref)).toEqual([]);
    expect(await typesOf(inTime.ref)).toEqual(['ErrandBegun']);
    await recordHistory('history-shard-late', await replayed());
  });

  it('accepts the largest batches of several servers at the same time', async () => {
    const refs = await Promise.all(Array.from({ length: 9 }, () => begun()));
    const others = await Promise.all(
      Array.from({ length: 3 }, () => startTemporalRuntime(at, store, { [errand.name]: errandEffects(held) }, shards)),
    );
    const parcel = 'x'.repeat(250_000);
    const answers = await Promise.allSettled(
      [opened, ...others].flatMap(({ runtime }, server) =>
        refs.map(async (ref) => {
          const by = onBehalf(`${ref.id} of ${String(server)}`);
          const { answer } = await runtime.ask(ref, [{ type: 'echo', parcel }], by);
          return answer === parcel;
        }),
      ),
    );
    for (const other of others) await other[Symbol.asyncDispose]();
    // Callers whose batch was held up for long get a retry; on a busy machine that takes as long as an ask may.
    for (const answer of answers) {
      if (answer.status === 'fulfilled') expect(answer.value).toBe(true);
      else expect(['BUSY', 'ENGINE_UNAVAILABLE']).toContain((answer.reason as Rejection).code);
    }
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(9);
  });

  it('continues as new before its history is long, under constant asks, and loses no deadline', async () => {
    const open = await begun();
    const { runId } = await handle().describe();
    const asking = await begun();
    let rounds = 0;
    await vi.waitFor(
      async () => {
        for (; rounds % 20 !== 19; rounds += 1) expect(await ask(asking)).toBe('begun');
        rounds += 1;
        if (rounds === 20) await begun(40_000);
        expect((await handle().describe()).runId).not.toBe(runId);
      },
      { timeout: 100_000, interval: 1 },
    );
    const history = await replayed(runId);
    expect(history.events?.length).toBeGreaterThan(300);
    expect(history.events?.length).toBeLessThan(500);
    await recordHistory('history-shard-long', history);
    const states = (await stateOf()).states;
    expect(states['begun']).toBeGreaterThanOrEqual(2);
    const known = await handle().query<KnownProcess, [string]>('process', open.id);
    expect(known).toMatchObject({ standing: { state: 'begun' }, transitions: [{ on: 'begin', to: 'begun' }] });
    const short = await begun(500);
    await untilGivenUp(short);
    await replayed();
  });

  it('is restarted by the next ask after a loss, and finds overdue deadlines', async () => {
    const overdue = await begun(1_500);
    await handle().terminate('lost');
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    expect(await typesOf(overdue)).toEqual(['ErrandBegun']);
    await begun();
    await untilGivenUp(overdue);
    await replayed();
  });

  it('is restarted by the scan of open processes after a complete loss', async () => {
    const overdue = await begun(1_500);
    await handle().terminate('lost');
    await opened[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    await start();
    await untilGivenUp(overdue);
    await recordHistory('history-shard-found', await replayed());
  });

  it('starts again when a worker cannot replay its history', async () => {
    const [asked, due] = [await begun(), await begun(3_000)];
    const { runId } = await handle().describe();
    await opened[Symbol.asyncDispose]();
    const workflowsPath = fileURLToPath(new URL('../../fixtures/other-workflows.ts', import.meta.url));
    const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    opened = await startTemporalRuntime(at, store, { [errand.name]: errandEffects(held) }, shards, { bundle });
    await expect(ask(asked, { type: 'finish' })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    const attempts = async () => (await handle().describe()).raw.pendingWorkflowTask?.attempt ?? 0;
    await vi.waitFor(async () => expect(await attempts()).toBeGreaterThanOrEqual(4), {
      timeout: 90_000,
      interval: 500,
    });
    await using workflows = new ProcessWorkflows(at, systemClock);
    const clock = new ManualClock();
    const failing = new FailingShards({ workflows, clock, logger: { warn: () => undefined } });
    for (let look = 0; look < 2; look += 1) {
      await failing.renew([{ index: 0, ...shards }]);
      await clock.advance(60_000);
    }
    await untilGivenUp(due);
    expect(await ask(asked, { type: 'finish' })).toBe('done');
    expect((await client.workflow.getHandle(handle().workflowId, runId).describe()).status.name).toBe('TERMINATED');
  });

  it('continues on another worker when its own was killed', async () => {
    const [asked, due] = [await begun(), await begun(3_000)];
    const { runId } = await handle().describe();
    await opened[Symbol.asyncDispose]();
    await start();
    expect(await ask(asked, { type: 'finish' })).toBe('done');
    await untilGivenUp(due);
    expect((await handle().describe()).runId).toBe(runId);
    await replayed();
  });
});
