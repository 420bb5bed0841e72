import { randomBytes } from 'node:crypto';

import { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { systemRandom } from '../../../src/adapters/system/random.js';
import { loadWorkflowBundle } from '../../../src/adapters/temporal/bundle.js';
import { dataConverterOf, openConnection } from '../../../src/adapters/temporal/connection.js';
import { workflowIdOf } from '../../../src/adapters/temporal/names.js';
import { payloadEncryption, payloadKeyId } from '../../../src/adapters/temporal/payload-codec.js';
import type { ProcessWithEffects } from '../../../src/kernel/processes/process-effects.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { ProcessRef } from '../../../src/ports/process-runtime.js';
import { encryptedHistoryKey } from '../../support/encrypted-history.js';
import { rememberingLog } from '../../support/http.js';
import { recordHistory } from '../../support/recorded-histories.js';
import { race, raceEffects, type RaceEffects } from '../../support/relay-race.js';
import { startTemporalRuntime, type OpenTemporalRuntime } from '../../support/temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
const stream = npcStream('studio', 'runner');
const poll = { timeout: 60_000, interval: 100 };

const first = encryptedHistoryKey;
const second = randomBytes(32);
const withKeys = (...all: readonly Uint8Array[]) =>
  payloadEncryption({ encrypting: all[0] ?? null, all }, systemRandom);

/** Data that must not be readable at Temporal. */
const PARCEL = 'what the innkeeper saw';
const COMPLAINT = 'the innkeeper cannot say it';

describe('The data stored at Temporal', () => {
  const connection = openConnection({ address });
  const client = new Client({ connection, namespace: temporalNamespace });
  const at = { address, temporalNamespace, namespace: `test-${randomBytes(6).toString('hex')}` };
  const store = new MemoryEventStore();
  const log = rememberingLog();
  let opened: OpenTemporalRuntime | undefined;
  let races = 0;
  let isHeld = false;
  let letGo: () => void = () => undefined;

  const effects: RaceEffects = {
    ran: [],
    deliver: () => (isHeld ? new Promise((resolve) => (letGo = () => resolve(PARCEL))) : Promise.resolve(PARCEL)),
  };
  const host = raceEffects(effects);
  const prepare: ProcessWithEffects['prepare'] = (ref, state, inputs, ...rest) => {
    if (inputs[0]?.type === 'refuse') throw new Error(COMPLAINT);
    return host.prepare(ref, state, inputs, ...rest);
  };
  /** The processes continue in a program with these keys; an earlier program has ended. */
  const startWith = async (...keys: readonly Uint8Array[]): Promise<void> => {
    await opened?.[Symbol.asyncDispose]();
    const processes = { [race.name]: { ...host, prepare } };
    opened = await startTemporalRuntime({ ...at, payloads: withKeys(...keys) }, store, processes, undefined, { log });
  };
  const newRace = (): ProcessRef => ({
    process: race.name,
    id: makeProcessId('r', -1, Date.now(), `race ${String((races += 1))}`),
    stream,
  });
  const ask = (ref: ProcessRef, type: string, commandId = `${type} ${ref.id}`) => {
    const by = { tenant: 'studio', actor: 'key', commandId, correlationId: commandId, causationId: null };
    const deadlineAt = new Date(Date.now() + 600_000).toISOString();
    if (opened === undefined) throw new Error('nothing runs');
    return opened.runtime.ask(ref, [type === 'start' ? { type, raceId: ref.id, deadlineAt } : { type }], by);
  };
  const typesOf = async ({ id }: ProcessRef) =>
    (await store.read(stream, { direction: 'forwards', limit: 4096 })).events
      .filter(({ data }) => data['raceId'] === id)
      .map(({ type }) => type);
  const until = (ref: ProcessRef, type: string) => expect.poll(() => typesOf(ref), poll).toContain(type);
  const historyOf = (ref: ProcessRef): Promise<History> =>
    client.workflow.getHandle(workflowIdOf(at.namespace, ref)).fetchHistory();
  /** Everything that the server stores of a process, as its operators can see it. */
  const seenIn = (history: History): string =>
    Buffer.from(proto.temporal.api.history.v1.History.encode(history).finish()).toString('latin1');
  const replay = async (history: History, ...keys: readonly Uint8Array[]): Promise<void> => {
    const dataConverter = dataConverterOf({ payloads: withKeys(...keys) });
    const workflowBundle = await loadWorkflowBundle(keys.length > 0);
    await Worker.runReplayHistory({ workflowBundle, dataConverter }, history);
  };
  /** Plays a race to its end, with a step that fails on the way. */
  const play = async (ref: ProcessRef): Promise<void> => {
    await ask(ref, 'start');
    await until(ref, 'RaceDelivered');
    await expect(ask(ref, 'refuse')).rejects.toThrow(COMPLAINT);
    expect((await ask(ref, 'finish')).answer).toMatchObject({ name: 'finished' });
  };

  afterEach(() => {
    isHeld = false;
    letGo();
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
    await connection.close();
  });

  it('shows texts and the reasons of failures without a key', async () => {
    await startWith();
    const ref = newRace();
    await play(ref);
    const history = await historyOf(ref);
    for (const words of [PARCEL, COMPLAINT, 'deadlineAt']) expect(seenIn(history)).toContain(words);
    await replay(history);
  });

  it('shows only names, times and search attributes with a key, and replays with that key alone', async () => {
    await startWith(first);
    const ref = newRace();
    await play(ref);
    const history = await historyOf(ref);
    const seen = seenIn(history);
    for (const words of [PARCEL, COMPLAINT, 'deadlineAt', ref.stream]) expect(seen).not.toContain(words);
    for (const words of [ref.id, 'runner', 'Encoded failure', payloadKeyId(first)]) expect(seen).toContain(words);
    await replay(history, first);
    await expect(replay(history, second)).rejects.toThrow();
    await recordHistory('encrypted-history', history);
  });

  it('is read after a key is introduced, and after keys are replaced', async () => {
    const ref = newRace();
    isHeld = true;
    await startWith();
    await ask(ref, 'start');
    for (const keys of [[first], [second, first]]) {
      await startWith(...keys);
      expect((await ask(ref, 'start')).answer).toMatchObject({ name: 'started' });
    }
    isHeld = false;
    letGo();
    await until(ref, 'RaceDelivered');
    expect((await ask(ref, 'finish')).answer).toMatchObject({ name: 'finished' });
  });

  it('delays only its own process when its key is missing, logs it, and continues when the key is back', async () => {
    const [lost, fine] = [newRace(), newRace()];
    isHeld = true;
    await startWith(first);
    await ask(lost, 'start');
    await startWith(second);
    isHeld = false;
    await expect(ask(lost, 'finish')).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    const complaint = `A payload is encrypted with the key "${payloadKeyId(first)}", which is not in TEMPORAL_PAYLOAD_KEY.`;
    const said = log.lines.map(({ fields }) => String((fields as { error?: unknown }).error));
    expect(said.join()).toContain(complaint);
    await play(fine);
    await startWith(second, first);
    await until(lost, 'RaceDelivered');
    expect((await ask(lost, 'finish', 'once more')).answer).toMatchObject({ name: 'finished' });
  });
});
