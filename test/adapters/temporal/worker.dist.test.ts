import { randomBytes } from 'node:crypto';

import { afterEach, describe, expect, it, vi } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { startProcessWorker } from '../../../src/adapters/temporal/worker.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { ProcessRef } from '../../../src/ports/process-runtime.js';
import { EFFECT_SILENCE_MS } from '../../../src/kernel/processes/process-limits.js';
import { rememberingLog } from '../../support/http.js';
import { race, raceEffects, type RaceEffects } from '../../support/relay-race.js';
import { startTemporalRuntime, type OpenTemporalRuntime } from '../../support/temporal.js';

const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const temporalNamespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
const addressOf = () => ({ address, temporalNamespace, namespace: `test-${randomBytes(6).toString('hex')}` });

/** More than all effect slots of a worker, in the background or not. */
const WAITING = 140;
/** More than the background slots, and fewer than all. */
const PLACES = 64;
const stream = npcStream('studio', 'runner');

describe('a worker', () => {
  let opened: OpenTemporalRuntime | undefined;
  afterEach(async () => {
    await opened?.[Symbol.asyncDispose]();
    opened = undefined;
  });

  it('starts foreground work immediately while more background work waits than it has slots for, and loses none of it', async () => {
    const held: (() => void)[] = [];
    const began: string[] = [];
    const effects: RaceEffects = { deliver: () => Promise.resolve('parcel'), ran: [] };
    const inBackground: RaceEffects = {
      deliver: async (_, { id }) => {
        began.push(id);
        if (!released) await new Promise<void>((resolve) => held.push(resolve));
        return 'parcel';
      },
      ran: [],
    };
    let released = false;
    const events = new MemoryEventStore();
    const processes = {
      race: raceEffects(effects),
      slowRace: { ...raceEffects(inBackground), process: { ...race, name: 'slowRace', background: true } },
    } as const;
    const log = rememberingLog();
    const running = await startTemporalRuntime(addressOf(), events, processes, undefined, { log });
    opened = running;
    const start = async (process: string, n: number): Promise<string> => {
      const id = makeProcessId('r', -1, Date.now(), `${process} ${String(n)}`);
      const ref: ProcessRef = { process, id, stream };
      const deadlineAt = new Date(Date.now() + 600_000).toISOString();
      const by = { tenant: 'studio', actor: 'key', commandId: id, correlationId: id, causationId: null };
      // This many concurrent asks may be refused; asking again is safe.
      await vi.waitFor(() => running.runtime.ask(ref, [{ type: 'start', raceId: id, deadlineAt }], by), {
        timeout: 60_000,
        interval: 1_000,
      });
      return id;
    };
    const delivered = async (): Promise<ReadonlySet<unknown>> => {
      const recorded = await events.read(stream, { direction: 'forwards', limit: 4_096 });
      return new Set(recorded.events.filter(({ type }) => type === 'RaceDelivered').map(({ data }) => data['raceId']));
    };

    const slow = await Promise.all(Array.from({ length: WAITING }, (_, n) => start('slowRace', n)));
    await vi.waitFor(() => expect(began.length).toBeGreaterThanOrEqual(16), { timeout: 20_000 });
    const quick = await start('race', 0);
    await vi.waitFor(async () => expect(await delivered()).toContain(quick), { timeout: 30_000, interval: 20 });
    // An effect that waits for a slot is still valid after a worker's silence limit.
    await new Promise((resolve) => setTimeout(resolve, EFFECT_SILENCE_MS + 3_000));
    // On a busy machine an effect may be silent for too long, and is started again.
    expect(new Set(began).size).toBeLessThanOrEqual(PLACES);
    released = true;
    for (const release of held) release();
    await vi.waitFor(async () => expect((await delivered()).size).toBe(WAITING + 1), { timeout: 60_000, interval: 50 });
    expect([...new Set(began)].toSorted()).toEqual(slow.toSorted());
    expect(log.lines).toEqual([]);
  }, 300_000);

  it('that cannot be created completely leaves nothing behind, and ends on request', async () => {
    const log = rememberingLog();
    const worker = startProcessWorker({
      ...addressOf(),
      deps: {} as never,
      events: {} as never,
      log,
      bundle: { code: 'this is no bundle' },
    });
    await vi.waitFor(() => expect(log.lines.length).toBeGreaterThan(0), { timeout: 10_000 });
    await worker[Symbol.asyncDispose]();
    expect(worker.running()).toBe(false);
    // A leftover worker would keep the connection open, which would be the error.
    expect(log.lines).toMatchObject([
      {
        fields: { err: { message: expect.stringContaining('Workflow Bundle') } },
        message: 'The worker lost the connection to Temporal; reconnecting',
      },
    ]);
  }, 60_000);
});
