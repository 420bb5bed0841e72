import { randomBytes } from 'node:crypto';

import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { ANSWER_BYTES } from '../../../activities/process-activities.js';
import { loadWorkflowBundle } from '../../../src/adapters/temporal/bundle.js';
import { taskQueueOf, workflowIdOf } from '../../../src/adapters/temporal/names.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import type { ProcessWithEffects } from '../../../src/kernel/processes/process-effects.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { CommandContext } from '../../../src/kernel/base/command-context.js';
import type { ProcessInput, ProcessRef } from '../../../src/ports/process-runtime.js';
import type { AppendFault } from '../../contracts/process-runtime.js';
import { faulty } from '../../support/faulty-store.js';
import { gate } from '../../support/gate.js';
import { recordHistory } from '../../support/recorded-histories.js';
import { race, raceEffects, type RaceEffects } from '../../support/relay-race.js';
import { UPDATE_LATE, backgroundQueueOf } from '../../../src/kernel/processes/process-step.js';
import { startTemporalRuntime, type OpenTemporalRuntime } from '../../support/temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
const stream = npcStream('studio', 'runner');

const onBehalf = (commandId: string): CommandContext => ({
  tenant: 'studio',
  actor: 'key',
  commandId,
  correlationId: commandId,
  causationId: null,
});

/** The answer of the race, with the sent inputs. */
const echoing: typeof race.answer = (state, input) => {
  const answer = race.answer(state, input);
  const sent = input as { readonly type: string; readonly parcel?: string } | undefined;
  return answer !== undefined && sent?.type === 'echo' ? { ...answer, echo: sent.parcel } : answer;
};

describe('the durable process workflow', () => {
  const at = { address, temporalNamespace, namespace: `test-${randomBytes(6).toString('hex')}` };
  const effects: RaceEffects = { deliver: () => Promise.resolve('parcel'), ran: [] };
  const fault: AppendFault = { at: 'none' };
  /** Whether reads fail as well, so that the state of a process is unknown. */
  const reads = { areAway: false };
  /** Processes whose streams end with events that only a newer server can read. */
  const unreadable = new Set<string>();
  let connection: Connection;
  let client: Client;
  let opened: OpenTemporalRuntime;
  let store: MemoryEventStore;
  let asks = 0;

  beforeAll(async () => {
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace: temporalNamespace });
    store = new MemoryEventStore();
    const host = raceEffects(effects);
    const prepare: ProcessWithEffects['prepare'] = (ref, state, inputs, ...rest) => {
      if (inputs[0]?.type === 'deadline' && unreadable.has(ref.id)) {
        throw new Rejection('EVENT_VERSION_UNKNOWN', { retryAfter: 1 });
      }
      return host.prepare(ref, state, inputs, ...rest);
    };
    const process = { ...race, answer: echoing };
    const events = faulty(store, fault);
    const unreliable: EventStore = {
      ...events,
      read: (...args) =>
        reads.areAway ? Promise.reject(new Rejection('STORE_UNAVAILABLE', { retryAfter: 1 })) : events.read(...args),
    };
    const background = { ...host, process: { ...process, name: 'backgroundRace', background: true } } as const;
    opened = await startTemporalRuntime(at, unreliable, {
      [race.name]: { ...host, process, prepare },
      [background.process.name]: background,
    });
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await connection.close();
  });
  beforeEach(() => {
    effects.deliver = () => Promise.resolve('parcel');
    effects.ran.length = 0;
    fault.at = 'none';
    reads.areAway = false;
  });

  const newRace = (dueMs = 60_000): { ref: ProcessRef; start: ProcessInput } => {
    const id = makeProcessId('r', -1, Date.now(), `race ${String((asks += 1))}`);
    const deadlineAt = new Date(Date.now() + dueMs).toISOString();
    return { ref: { process: race.name, id, stream }, start: { type: 'start', raceId: id, deadlineAt } };
  };
  const ask = (ref: ProcessRef, inputs: readonly ProcessInput[], commandId = `command ${String((asks += 1))}`) =>
    opened.runtime.ask(ref, inputs, onBehalf(commandId));
  const handleOf = (ref: ProcessRef) => client.workflow.getHandle(workflowIdOf(at.namespace, ref));
  const typesOf = async ({ id }: ProcessRef) =>
    (await store.read(stream, { direction: 'forwards', limit: 4096 })).events
      .filter(({ data }) => data['raceId'] === id)
      .map(({ type }) => type);
  const until = (ref: ProcessRef, type: string) =>
    vi.waitFor(async () => expect(await typesOf(ref)).toContain(type), { timeout: 10_000, interval: 20 });
  /** Replays the last run as a worker without a cache would. */
  const replayed = async (ref: ProcessRef, runId?: string) => {
    const history = await client.workflow.getHandle(workflowIdOf(at.namespace, ref), runId).fetchHistory();
    await Worker.runReplayHistory({ workflowBundle: await loadWorkflowBundle() }, history);
    return history;
  };

  /** Queries the process, with or without a result, until a new run has taken over. */
  const untilNextRun = async (ref: ProcessRef) => {
    const { runId } = await handleOf(ref).describe();
    await vi.waitFor(
      async () => {
        await Promise.allSettled(Array.from({ length: 6 }, () => ask(ref, [])));
        expect((await handleOf(ref).describe()).runId).not.toBe(runId);
      },
      { timeout: 90_000, interval: 1 },
    );
    return runId;
  };
  const inputOf = async (ref: ProcessRef): Promise<unknown> => {
    const [started] = (await handleOf(ref).fetchHistory()).events ?? [];
    const payload = started?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    return JSON.parse(Buffer.from(payload?.data ?? []).toString());
  };
  /** The duration of each timer of the present run, in seconds; none of less than a second. */
  const timersOf = async (ref: ProcessRef): Promise<readonly number[]> => {
    const { events } = await handleOf(ref).fetchHistory();
    return (events ?? [])
      .map(({ timerStartedEventAttributes: timer }) => Number(timer?.startToFireTimeout?.seconds ?? 0))
      .filter((seconds) => seconds > 0);
  };

  it('ends with its process, shows its transitions, and replays', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    await until(ref, 'RaceDelivered');
    const seen = await handleOf(ref).query<{ standing: { state: string }; transitions: { to: string; on: string }[] }>(
      'state',
    );
    expect(seen.standing.state).toBe('delivered');
    expect(seen.transitions.map(({ to, on }) => `${on} → ${to}`)).toEqual(['start → started', 'delivered → delivered']);
    const details = await handleOf(ref).query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(details.currentDetails).toContain('**delivered**');
    await ask(ref, [{ type: 'finish' }]);
    await handleOf(ref).result();
    await recordHistory('history-finished', await replayed(ref));
  });

  it('runs background processes from their own queue, and replays', async () => {
    const { ref, start } = newRace();
    const inBackground = { ...ref, process: 'backgroundRace' };
    await ask(inBackground, [start]);
    await until(ref, 'RaceDelivered');
    await ask(inBackground, [{ type: 'finish' }]);
    await handleOf(inBackground).result();
    const history = await replayed(inBackground);
    const queues = (history.events ?? []).map(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.taskQueue?.name,
    );
    expect(queues.filter((name) => name !== undefined)).toEqual([backgroundQueueOf(taskQueueOf(at.namespace))]);
    await recordHistory('history-background', history);
  });

  it('can be found by tenant, npcId and process', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    const { type, typedSearchAttributes, memo } = await handleOf(ref).describe();
    expect(type).toBe(race.name);
    const found = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
    expect(found).toMatchObject({ AnimaTenant: 'studio', AnimaNpcId: 'runner', AnimaProcess: 'race' });
    expect(memo).toEqual({ stream });
  });

  it('ends at its deadline without any asks, and replays', async () => {
    effects.deliver = () => new Promise(() => undefined);
    const { ref, start } = newRace(1_000);
    await ask(ref, [start]);
    await until(ref, 'RaceGivenUp');
    await handleOf(ref).result();
    await recordHistory('history-deadline', await replayed(ref));
  });

  it('fails only the ask whose step threw, and continues with the next', async () => {
    const { ref, start } = newRace();
    fault.at = 'before';
    await expect(ask(ref, [start], 'the same command')).rejects.toThrow('killed before the append');
    fault.at = 'none';
    // The same ask again: the server’s cached failure is not its answer.
    expect((await ask(ref, [start], 'the same command')).answer).toMatchObject({ name: 'started' });
    await expect(ask(ref, [{ type: 'refuse' }])).rejects.toMatchObject({ code: 'CONFLICT' });
    await until(ref, 'RaceDelivered');
    await ask(ref, [{ type: 'finish' }]);
    await handleOf(ref).result();
    await recordHistory('history-failed-step', await replayed(ref));
  });

  it('leaves no workflow behind if nothing was begun', async () => {
    const { ref } = newRace();
    await expect(ask(ref, [{ type: 'finish' }])).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
    await handleOf(ref).result();
    expect((await handleOf(ref).describe()).status.name).toBe('COMPLETED');
  });

  it('answers a repeat from the server without another step, even if the run is closed', async () => {
    const { ref, start } = newRace();
    const first = await ask(ref, [start], 'one command');
    await until(ref, 'RaceDelivered');
    await ask(ref, [{ type: 'finish' }]);
    await handleOf(ref).result();
    const { runId } = await handleOf(ref).describe();
    expect(await ask(ref, [start], 'one command')).toEqual(first);
    expect((await handleOf(ref).describe()).runId).toBe(runId);
  });

  it('waits for an outcome, and replays', async () => {
    const { ref, start } = newRace();
    let release: (parcel: string) => void = () => undefined;
    effects.deliver = () => new Promise((resolve) => (release = resolve));
    await ask(ref, [start]);
    const outcome = opened.runtime.outcome(ref, onBehalf('outcome'), { withinMs: 30_000 });
    await vi.waitFor(() => expect(effects.ran).toContain('deliver'), { timeout: 5_000 });
    await ask(ref, []);
    release('parcel');
    expect((await outcome)?.answer).toMatchObject({ name: 'delivered' });
    await ask(ref, [{ type: 'finish' }]);
    await handleOf(ref).result();
    await recordHistory('history-outcome', await replayed(ref));
  });

  it('does not end a run during an attempt at an effect, and replays', async () => {
    const { ref, start } = newRace();
    let release: (parcel: string) => void = () => undefined;
    effects.deliver = () => new Promise((resolve) => (release = resolve));
    await ask(ref, [start]);
    const { runId } = await handleOf(ref).describe();
    await vi.waitFor(
      async () => {
        await Promise.all(Array.from({ length: 6 }, () => ask(ref, [])));
        expect((await handleOf(ref).describe()).historyLength).toBeGreaterThan(1_200);
      },
      { timeout: 60_000, interval: 1 },
    );
    expect((await handleOf(ref).describe()).runId).toBe(runId);
    release('parcel');
    await until(ref, 'RaceDelivered');
    await vi.waitFor(async () => expect((await handleOf(ref).describe()).runId).not.toBe(runId), { timeout: 10_000 });
    expect(effects.ran.filter((name) => name === 'deliver')).toHaveLength(1);
    await recordHistory('history-long-attempt', await replayed(ref, runId));
  });

  it('keeps the result of an effect while the store is unavailable, and replays', async () => {
    const { ref, start } = newRace();
    const { opened, open: release } = gate<string>();
    effects.deliver = () => opened;
    await ask(ref, [start]);
    await vi.waitFor(() => expect(effects.ran).toContain('deliver'), { timeout: 5_000 });
    fault.at = 'away';
    release('dear');
    await vi.waitFor(async () => expect((await timersOf(ref)).filter((seconds) => seconds < 10)).not.toEqual([]), {
      timeout: 20_000,
      interval: 100,
    });
    fault.at = 'none';
    await until(ref, 'RaceDelivered');
    expect(effects.ran.filter((name) => name === 'deliver')).toHaveLength(1);
    await ask(ref, [{ type: 'finish' }]);
    await handleOf(ref).result();
    await recordHistory('history-put-off-result', await replayed(ref));
  });

  it('runs no step for an ask whose caller has timed out, and replays', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    await until(ref, 'RaceDelivered');
    const finish = { stream, inputs: [{ type: 'finish' }], by: onBehalf('late'), token: 'late' };
    const late = { ...finish, untilMs: Date.now() - 60_000 };
    await expect(handleOf(ref).executeUpdate('ask', { args: [late] })).rejects.toMatchObject({
      cause: { type: UPDATE_LATE },
    });
    expect(await typesOf(ref)).not.toContain('RaceFinished');
    await handleOf(ref).executeUpdate('ask', { args: [{ ...late, untilMs: Date.now() + 60_000 }] });
    await handleOf(ref).result();
    expect(await typesOf(ref)).toContain('RaceFinished');
    await recordHistory('history-late-ask', await replayed(ref));
  });

  it('keeps the result of an effect, and waits for an outcome, across the end of a run', async () => {
    const { ref, start } = newRace(3_600_000);
    let release: (parcel: string) => void = () => undefined;
    effects.deliver = () => new Promise((resolve) => (release = resolve));
    await ask(ref, [start]);
    await vi.waitFor(() => expect(effects.ran).toContain('deliver'), { timeout: 5_000 });
    fault.at = 'away';
    release('dear');
    const pauses = async () => (await timersOf(ref)).filter((seconds) => seconds < 1_000);
    await vi.waitFor(async () => expect((await pauses()).length).toBeGreaterThan(2), {
      timeout: 20_000,
      interval: 100,
    });
    expect((await pauses()).slice(0, 3)).toEqual([1, 2, 4]);
    const outcome = opened.runtime.outcome(ref, onBehalf('outcome'), { withinMs: 60_000 });
    const runId = await untilNextRun(ref);
    fault.at = 'none';
    expect((await outcome)?.answer).toMatchObject({ name: 'delivered' });
    expect(effects.ran.filter((name) => name === 'deliver')).toHaveLength(1);
    await replayed(ref, runId);
  });

  it('continues as new even if it became long while the state of its process was unknown', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    await until(ref, 'RaceDelivered');
    reads.areAway = true;
    const runId = await untilNextRun(ref);
    // The backoff continues where it was.
    expect(await inputOf(ref)).toMatchObject({ takeUp: true, failures: expect.toSatisfy((n: number) => n > 10) });
    reads.areAway = false;
    await vi.waitFor(async () =>
      expect((await ask(ref, [{ type: 'finish' }])).answer).toMatchObject({ name: 'finished' }),
    );
    await replayed(ref, runId);
  });

  it('accepts the stream in the form of the first version’s workers, and refuses another one', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    const { events } = await handleOf(ref).fetchHistory();
    const accepted = (events ?? []).map((event) => event.workflowExecutionUpdateAcceptedEventAttributes).find(Boolean);
    const payload = accepted?.acceptedRequest?.input?.args?.payloads?.[0];
    const sent = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as Record<string, unknown>;
    expect(sent['stream']).toBe(stream);
    const other = { ...sent, stream: npcStream('studio', 'other'), inputs: [] };
    await expect(handleOf(ref).executeUpdate('ask', { args: [other] })).rejects.toMatchObject({
      cause: { message: `${ref.id} belongs to another stream` },
    });
  });

  it('backs off from a deadline in a stream that only a newer server can read', async () => {
    effects.deliver = () => new Promise(() => undefined);
    const { ref, start } = newRace(500);
    unreadable.add(ref.id);
    await ask(ref, [start]);
    await vi.waitFor(async () => expect((await timersOf(ref)).length).toBeGreaterThan(2), {
      timeout: 20_000,
      interval: 100,
    });
    unreadable.clear();
    await until(ref, 'RaceGivenUp');
    expect((await timersOf(ref)).slice(0, 3)).toEqual([1, 2, 4]);
    await handleOf(ref).result();
    await replayed(ref);
  });

  it.each(['look', 'tell'])('reads its stream immediately on the signal %s, and replays', async (signal) => {
    effects.deliver = () => new Promise(() => undefined);
    const { ref, start } = newRace(1_000);
    await ask(ref, [start]);
    reads.areAway = true;
    await expect(ask(ref, [])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await vi.waitFor(async () => expect((await timersOf(ref)).at(-1)).toBe(8), { timeout: 30_000, interval: 100 });
    reads.areAway = false;
    await handleOf(ref).signal(signal);
    await until(ref, 'RaceGivenUp');
    await handleOf(ref).result();
    const history = await replayed(ref);
    const events = history.events ?? [];
    const signalled = events.findIndex((event) => event.workflowExecutionSignaledEventAttributes);
    expect(events.slice(signalled).filter((event) => event.timerFiredEventAttributes)).toEqual([]);
    await recordHistory(`history-signal-${signal}`, history);
  });

  it('returns an answer that is too large to send, as it was at its revision', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start], 'large');
    await until(ref, 'RaceDelivered');
    const parcel = 'x'.repeat(2 * ANSWER_BYTES);
    const { answer, revision } = await ask(ref, [{ type: 'echo', parcel }]);
    expect(answer).toEqual({ name: 'delivered', echo: parcel });
    expect(revision).toBeGreaterThan(0);
  });

  it('restarts from the stream when Temporal has lost it', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    await until(ref, 'RaceDelivered');
    await handleOf(ref).terminate('lost');
    expect((await ask(ref, [{ type: 'finish' }])).answer).toMatchObject({ name: 'finished' });
    expect(await typesOf(ref)).toEqual(['RaceStarted', 'RaceDelivered', 'RaceFinished']);
  });

  it('continues as new before its history is long, under constant asks', async () => {
    const { ref, start } = newRace();
    await ask(ref, [start]);
    await until(ref, 'RaceDelivered');
    const { runId } = await handleOf(ref).describe();
    for (let round = 0; round < 60; round += 1) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(ref, [])));
      for (const { answer } of answers) expect(answer).toEqual({ name: 'delivered' });
    }
    const after = await handleOf(ref).describe();
    expect(after.runId).not.toBe(runId);
    const history = await replayed(ref, runId);
    expect(history.events?.length).toBeGreaterThan(1_000);
    expect(history.events?.length).toBeLessThan(1_200);
    expect((await ask(ref, [{ type: 'finish' }])).answer).toMatchObject({ name: 'finished' });
  });
});
