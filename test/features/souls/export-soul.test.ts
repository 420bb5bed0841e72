import { describe, expect, it, vi } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { beginExport, exportRef, giveUpExport } from '../../../src/features/souls/export-soul.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { KeyedMutex } from '../../../src/kernel/concurrency/keyed-mutex.js';
import { SingleFlight } from '../../../src/kernel/concurrency/single-flight.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import type { ProcessRuntime, StepAnswer } from '../../../src/ports/process-runtime.js';
import { STREAM } from '../../support/streams.js';
import { MAX_WAITING_BYTES } from '../../../src/features/souls/waiting-room.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';

const bytes = Buffer.from('{"soul":true}');
const digest = contentDigest(bytes);
const by = { tenant: 'studio', actor: 'k', commandId: 'c', correlationId: 'c', causationId: null };

/** The fate of a sealed soul whose export is given up, when the runtime returns this. */
const givenUp = async (ask: () => Promise<StepAnswer>) => {
  const archive = new MemorySoulArchive();
  await archive.stage(digest, bytes, { tenant: 'studio', expiresAt: new Date('2030-01-01') });
  const outcome = await giveUpExport(
    { runtime: { ask } as never, archive },
    exportRef(STREAM, 's1'),
    { digest, reason: 'no room' },
    by,
  ).then(
    ({ export: { name } }) => name,
    (error: unknown) => (error as Rejection).code,
  );
  return { outcome, waiting: await archive.stagedBytes('studio') };
};
const ended = (state: object) => () =>
  Promise.resolve({ answer: state, revision: 3, position: 3 } as unknown as StepAnswer);

describe('an export to IPFS', () => {
  it('is answered after 12 s while its sealed soul is in no archive yet, and continues [7.2h]', async () => {
    const events = new MemoryEventStore();
    const clock = new ManualClock();
    await appendNext(events, STREAM, [event('npc', { type: 'NpcRegistered', data: {} })]);
    const outcome = vi.fn(() => new Promise<never>(() => undefined));
    /** It records and seals what is requested, and then waits for a node that is down. */
    const ask: ProcessRuntime['ask'] = async (_ref, [input]) => {
      const { type: _, ...data } = input as JsonObject;
      const { soulId } = data;
      const seal = { soulId, name: 'Mira', digest: 'd', root: 'r', kid: 'k', mindRevision: 0, memories: 0, bytes: 9 };
      for (const [type, of] of [
        ['SoulExportRequested', data],
        ['SoulSealed', seal],
      ] as const)
        await appendNext(events, STREAM, [event(type, { type, data: of as JsonObject })]);
      return { answer: undefined, revision: 2, position: 3 };
    };
    const deps = {
      ...{ events, clock, writers: new StreamWriters(events, clock), repository: new ProcessRepository(events) },
      ...{ runtime: { ask, outcome } as never, waits: new SingleFlight<StepAnswer>(), mutex: new KeyedMutex() },
      ...{ archive: new MemorySoulArchive(), soulDeadlineMs: 3_600_000 },
    };
    const request = { npcState: {}, includeMemories: true, uploadedBy: 'server', storage: 'ipfs' } as const;
    let isOver = false;
    const asked = beginExport(deps, { stream: STREAM, ...request, by, keyed: false, resumed: false }).catch(
      (error: unknown) => {
        isOver = true;
        return error;
      },
    );
    await expect.poll(() => outcome.mock.calls.length).toBe(1);
    await clock.advance(11_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await asked).toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    const { events: recorded } = await events.read(STREAM, { direction: 'forwards', from: 0, limit: 10 });
    expect(recorded.map(({ type }) => type)).toEqual(['NpcRegistered', 'SoulExportRequested', 'SoulSealed']);
  });
});

describe('a new export', () => {
  it('is refused while too many souls of its tenant wait, and then records nothing [8.1j]', async () => {
    const [events, clock, archive] = [new MemoryEventStore(), new ManualClock(), new MemorySoulArchive()];
    const waiting = Buffer.alloc(MAX_WAITING_BYTES);
    await archive.stage(contentDigest(waiting), waiting, { tenant: by.tenant, expiresAt: new Date('2030-01-01') });
    const ask = vi.fn(() => Promise.reject(new Error('an export was begun')));
    const deps = {
      ...{ events, clock, archive, writers: new StreamWriters(events, clock) },
      ...{ repository: new ProcessRepository(events), runtime: { ask } as never },
      ...{ waits: new SingleFlight<StepAnswer>(), mutex: new KeyedMutex(), soulDeadlineMs: 3_600_000 },
    };
    const request = {
      npcState: {},
      includeMemories: true,
      uploadedBy: 'client',
      keyed: false,
      resumed: false,
    } as const;
    const begin = (tenant: string) =>
      beginExport(deps, { stream: npcStream(tenant, 'mira'), ...request, by: { ...by, tenant } });
    await expect(begin(by.tenant)).rejects.toMatchObject({ code: 'SOULS_WAITING', retryAfter: 60 });
    await expect(begin('another')).rejects.toThrow('an export was begun');
    expect(ask).toHaveBeenCalledTimes(1);
  });
});

describe('an abandoned export', () => {
  it.each([
    ['SOUL_UPLOAD_FAILED', { name: 'failed', failure: { code: 'SOUL_UPLOAD_FAILED', reason: 'no room' } }],
    ['SOUL_EXCHANGE_EXPIRED', { name: 'expired' }],
  ])('frees its quota: %s', async (outcome, state) => {
    expect(await givenUp(ended(state))).toEqual({ outcome, waiting: 0 });
  });

  it('keeps its sealed soul as long as it may be needed', async () => {
    const away = () => Promise.reject(new Rejection('ENGINE_UNAVAILABLE'));
    expect(await givenUp(away)).toEqual({ outcome: 'ENGINE_UNAVAILABLE', waiting: bytes.length });
    expect(await givenUp(ended({ name: 'exported' }))).toEqual({ outcome: 'exported', waiting: bytes.length });
  });
});
