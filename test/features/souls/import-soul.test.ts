import { beforeEach, describe, expect, it, vi } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { KeyedMutex } from '../../../src/kernel/concurrency/keyed-mutex.js';
import { SingleFlight } from '../../../src/kernel/concurrency/single-flight.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { beginImport, type ImportDeps, KEPT_MS, receiveSoul } from '../../../src/features/souls/import-soul.js';
import { signSoul } from '../../../src/features/souls/soul-signer.js';
import { verifySoul } from '../../../src/features/souls/verify-soul.js';
import { MAX_WAITING_BYTES, requireWaitingRoom, stagedFor } from '../../../src/features/souls/waiting-room.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { jcs } from '../../../src/kernel/base/json.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { custodyStream, importStream, npcStream } from '../../../src/kernel/base/stream-names.js';
import type { CustodyLink } from '../../../src/features/souls/domain/document.js';
import { souls } from '../../../projections/souls.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { rowsOf } from '../../projections/fold.js';
import { soulToCbor } from '../../../src/features/souls/domain/binary.js';
import { ipfsCid } from '../../../src/kernel/crypto/ipfs-cid.js';
import type { ProcessRuntime, StepAnswer } from '../../../src/ports/process-runtime.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ISSUER, serverKeys, unsignedSoul } from '../../support/souls.js';

const START = '2026-01-01T00:00:00.000Z';
const tenant = 'studio';
const by = { tenant, actor: 'key', commandId: 'c1', correlationId: 'r1', causationId: null };
const importId = makeProcessId('i', 0, Date.parse(START), 'one');
const strangers = await serverKeys('a stranger');
const soul = await signSoul(strangers, ISSUER, unsignedSoul());
const digest = contentDigest(Buffer.from(jcs(soul)));
const ownCid = drained(ipfsCid(Buffer.from(jcs(soul))));
const binaryCid = drained(ipfsCid(soulToCbor(soul)));
const otherCid = drained(ipfsCid(Buffer.from('something else')));
const trust = { keys: await serverKeys('ours'), issuer: 'https://ours.example', trusted: null };

let archive: MemorySoulArchive;
let mutex: KeyedMutex;
let clock: ManualClock;
let events: MemoryEventStore;
beforeEach(async () => {
  archive = new MemorySoulArchive();
  mutex = new KeyedMutex();
  clock = new ManualClock(START);
  events = new MemoryEventStore();
  seen = () => events.readAll(0, 4_096);
  for (const txId of ['tx', ownCid, binaryCid, otherCid]) {
    const data = { importId, txId, deadlineAt: '2026-01-01T01:00:00.000Z' };
    await appendNext(events, importStream(tenant, txId), [event(txId, { type: 'SoulImportRequested', data })]);
  }
});

/** The souls that this server sealed; null while the read model has not seen them. */
let seen: (() => Promise<readonly RecordedEvent[]>) | null;
const sealedSouls: ImportDeps['readModels'] = {
  getAll: async (_, keys) => {
    const rows = rowsOf(souls, seen === null ? [] : await seen());
    return new Map([...rows].filter(([key]) => keys.includes(key)));
  },
  reached: async () => seen !== null,
};

/** An engine that does only what a test tells it to. */
const depsWith = (runtime: Partial<ProcessRuntime>): ImportDeps => ({
  ...{
    events,
    writers: new StreamWriters(events, clock),
    repository: new ProcessRepository(events),
    readModels: sealedSouls,
    clock,
    archive,
    trust,
    mutex,
  },
  ...{ runtime: runtime as ProcessRuntime, waits: new SingleFlight<StepAnswer>(), soulDeadlineMs: 3_600_000 },
});
const received = async (runtime: Partial<ProcessRuntime>, txId = 'tx') =>
  receiveSoul(depsWith(runtime), { tenant, txId, by }, { document: soul, copy: false });
/** No outcome within the time of a request. */
const notInTime = async (): Promise<null> => {
  await clock.advance(60_000);
  return null;
};
const answered = async () => ({ answer: undefined, revision: 1, position: 1 });
const unknown = () => Promise.reject(new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 }));
const isKept = async () => (await archive.read(digest)) !== null;
/** As the import’s own effect does at its end. */
const ends = async () => archive.unstage(digest, stagedFor(tenant, importId));
const recorded = async () => {
  const received = { soulId: soul.id, digest, root: soul.trainingProof, kid: 'k', signer: 'unknown' } as const;
  const data = { importId, ...received, npcId: soul.npcId, copy: false, memories: 3, bytes: 1 };
  await appendNext(events, importStream(tenant, 'tx'), [event('tx', { type: 'SoulReceived', data })]);
};

describe('a soul with a past', () => {
  const kid = trust.keys.current.kid;
  const [link] = unsignedSoul().provenance.chain;
  const sealedAs = { soulId: 's0_mbx1_AbCdEfGhIjKlMnOp', tenant, npcId: 'Zoë', kid };
  const past = { ...link, ...sealedAs } as CustodyLink;
  const outcome = async (chain: readonly CustodyLink[]): Promise<unknown> => {
    const { provenance, ...rest } = unsignedSoul();
    const document = await signSoul(strangers, ISSUER, { ...rest, provenance: { ...provenance, chain } });
    const deps = depsWith({ ask: () => Promise.reject(new Rejection('BUSY')) });
    return receiveSoul(deps, { tenant, txId: 'tx', by }, { document, copy: false }).catch((error: unknown) => error);
  };
  const seal = (data: object) =>
    appendNext(events, npcStream(tenant, 'Zoë'), [
      event('s', { type: 'SoulSealed', data: { soulId: sealedAs.soulId, name: 'Zoë', root: past.root, kid, ...data } }),
    ]);

  it('is refused if it names a key of this server for a soul that this server did not seal [8.4u]', async () => {
    const refused = { code: 'SOUL_INVALID', details: { reason: 'claims_our_server' } };
    expect(await outcome([past])).toMatchObject(refused);
    expect(await outcome([{ ...past, soulId: 's1' }])).toMatchObject(refused);
    await seal({ root: 'another' });
    expect(await outcome([past])).toMatchObject(refused);
    expect(await outcome([{ ...past, kid: past.root }])).toMatchObject({ code: 'BUSY' });
  });

  it.each(['SoulExportExpired', 'SoulExportFailed'])(
    'is imported if this server sealed it, however late and whatever came of that export: %s [8.4w]',
    async (type) => {
      for (let batch = 0; batch < 42; batch += 1) {
        const others = Array.from({ length: 500 }, (_, at) => event(`o${batch}-${at}`));
        await appendNext(events, npcStream(tenant, 'Zoë'), others);
      }
      await seal({});
      await appendNext(events, npcStream(tenant, 'Zoë'), [event('e', { type, data: { soulId: sealedAs.soulId } })]);
      seen = async () => (await events.read(npcStream(tenant, 'Zoë'), { direction: 'backwards', limit: 9 })).events;
      expect(await outcome([past])).toMatchObject({ code: 'BUSY' });
    },
  );

  it('is neither imported nor refused while it is unknown whether this server sealed it [8.4w]', async () => {
    await seal({});
    seen = null;
    expect(await outcome([past])).toMatchObject({ code: 'READ_MODEL_BEHIND', retryAfter: 1 });
  });
});

describe('a received soul', () => {
  it('gets a response after 12 s while it is still arriving, and stays for a repeat [8.4o]', async () => {
    await recorded();
    const outcome = vi.fn(() => new Promise<never>(() => undefined));
    let isOver = false;
    const asked = received({ outcome }).catch((error: unknown) => {
      isOver = true;
      return error;
    });
    await expect.poll(() => outcome.mock.calls.length).toBe(1);
    await clock.advance(11_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await asked).toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(await isKept()).toBe(true);
  });

  it.each<[string, Partial<ProcessRuntime>]>([
    ['it is unknown whether its import has received it', { ask: unknown }],
    ['the server dies while it waits', { ask: answered, outcome: () => new Promise(() => undefined) }],
    ['its outcome cannot be read', { ask: answered, outcome: () => Promise.reject(new Error('no')) }],
  ])('is kept for longer than any outage when %s, and then swept', async (_, runtime) => {
    void received(runtime).catch(() => undefined);
    await expect.poll(isKept).toBe(true);
    await archive.dropStaged(new Date(Date.parse(START) + KEPT_MS - 1), 10);
    expect(await isKept()).toBe(true);
    await archive.dropStaged(new Date(Date.parse(START) + KEPT_MS), 10);
    expect(await isKept()).toBe(false);
  });

  it.each([
    ['as it is', 'x'.repeat(16_384)],
    ['in compatibility form', 'ﷺ'.repeat(1_000)],
  ])('is refused, and not kept, when a memory has too much metadata %s [8.4h, 8.7i]', async (_, n) => {
    const { memories, ...rest } = unsignedSoul();
    const [first, ...others] = memories;
    if (first === undefined) throw new Error('the soul has memories');
    const large = await signSoul(strangers, ISSUER, { ...rest, memories: [{ ...first, metadata: { n } }, ...others] });
    const arriving = receiveSoul(
      depsWith({ ask: answered }),
      { tenant, txId: 'tx', by },
      { document: large, copy: false },
    );
    await expect(arriving).rejects.toMatchObject({
      code: 'SOUL_TOO_LARGE',
      details: { memoryId: first.id, metadataLimitBytes: 16_384 },
    });
    expect(await archive.read(contentDigest(Buffer.from(jcs(large))))).toBeNull();
    expect(await verifySoul(large, trust)).toMatchObject({ valid: true });
  });

  it.each(['SOUL_PAYLOAD_MISMATCH', 'SOUL_EXCHANGE_EXPIRED', 'SOUL_IMPORT_NOT_FOUND'] as const)(
    'is not kept when its import ends with %s',
    async (code) => {
      await expect(received({ ask: () => Promise.reject(new Rejection(code)) })).rejects.toMatchObject({ code });
      expect(await isKept()).toBe(false);
    },
  );

  it('is not stored again after its import has ended', async () => {
    const ask = async () => {
      await ends();
      return answered();
    };
    await expect(received({ ask, outcome: notInTime })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(await isKept()).toBe(false);
  });

  it('is dropped when its import ended just before it was stored [8.4i]', async () => {
    const failure = { code: 'SOUL_ALREADY_LIVE', reason: 'too late' };
    const outcome = async () => ({ answer: { name: 'failed', failure }, revision: 2, position: 2 });
    await expect(received({ ask: answered, outcome })).rejects.toMatchObject({ code: 'SOUL_ALREADY_LIVE' });
    expect(await isKept()).toBe(false);
    await recorded();
    await expect(received({ outcome })).rejects.toMatchObject({ code: 'SOUL_ALREADY_LIVE' });
    expect(await isKept()).toBe(false);
  });

  it('may be uploaded again while it arrives, also by a new request [8.3c, 8.4o]', async () => {
    const ask = () => Promise.reject(new Error('another import was begun'));
    await beginImport(depsWith({ ask }), { tenant, txId: 'tx', by });
    await recorded();
    const deps = depsWith({ ask });
    await clock.advance(2 * 3_600_000);
    await beginImport(deps, { tenant, txId: 'tx', by });
    await expect(received({ outcome: notInTime })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(await isKept()).toBe(true);
  });

  it.each([
    ['that was done', { done: true, commandId: 'another' }],
    ['whose first attempt died', { resumed: true, commandId: 'command-tx' }],
  ])('is found by a repeat %s, which begins or confirms no other import', async (_, repeated) => {
    await recorded();
    const owner = { type: 'SoulTaken', data: { tenant, npcId: soul.npcId, importId } };
    await appendNext(events, custodyStream(soul.trainingProof), [event('owner', owner)]);
    const arrived = { importId, npcId: soul.npcId, soulId: soul.id, revision: 0 };
    const stream = importStream(tenant, 'tx');
    await appendNext(events, stream, [event('arrived', { type: 'SoulImported', data: arrived })]);
    const state = { name: 'imported', arrived: { npcId: soul.npcId, revision: 0 }, soul: { soulId: soul.id } };
    const asked: string[] = [];
    const deps = depsWith({
      ask: async (ref) => Promise.reject(new Error(`asked ${ref.id}`)),
      outcome: async (ref) => {
        asked.push(ref.id);
        return { answer: state, revision: 2, position: 2 };
      },
    });
    const again = { ...by, ...repeated };
    await beginImport(deps, { tenant, txId: 'tx', by: again });
    const another = {
      importId: makeProcessId('i', 3, Date.parse(START), 'two'),
      txId: 'tx',
      deadlineAt: '2026-01-02T00:00:00.000Z',
    };
    await appendNext(events, stream, [event('another', { type: 'SoulImportRequested', data: another })]);
    const told = await receiveSoul(
      depsWith(deps.runtime),
      { tenant, txId: 'tx', by: again },
      { document: soul, copy: false },
    );
    expect(told.soul).toMatchObject({ soulId: soul.id });
    expect(asked).toEqual([importId]);
  });

  it('gets the same response as its repeats when it was confirmed during the lookup', async () => {
    const state = { name: 'imported', arrived: { npcId: soul.npcId, revision: 0 }, soul: { soulId: soul.id } };
    const deps = depsWith({ outcome: async () => ({ answer: state, revision: 2, position: 2 }) });
    const confirmedMeanwhile = {
      ...deps.archive,
      stage: archive.stage.bind(archive),
      unstage: archive.unstage.bind(archive),
      digestOfCid: async () => {
        await recorded();
        const owner = { type: 'SoulTaken', data: { tenant, npcId: soul.npcId, importId } };
        await appendNext(events, custodyStream(soul.trainingProof), [event('owner', owner)]);
        return null;
      },
    };
    const repository = new ProcessRepository(events, { shared: true });
    const again = { tenant, txId: 'tx', by };
    const given = { document: soul, copy: false };
    expect(await receiveSoul({ ...deps, repository, archive: confirmedMeanwhile }, again, given)).toMatchObject({
      soul: { soulId: soul.id },
    });
  });

  it('does not wait for itself', async () => {
    const nearly = Buffer.alloc(MAX_WAITING_BYTES - 10);
    const expiresAt = new Date('2027-01-01T00:00:00.000Z');
    await archive.stage(contentDigest(Buffer.from('a')), nearly, { ...stagedFor(tenant, 'i0_0_another'), expiresAt });
    for (let times = 0; times < 2; times += 1)
      await expect(received({ ask: unknown })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    // Only the bytes beyond one soul count.
    await archive.stage(contentDigest(Buffer.from('b')), nearly, { ...stagedFor(tenant, importId), expiresAt });
    await expect(received({ ask: unknown })).rejects.toMatchObject({ code: 'SOULS_WAITING' });
  });

  it('counts as waiting, for its own tenant alone [8.1j, 8.4i]', async () => {
    const others = Buffer.alloc(MAX_WAITING_BYTES);
    const expiresAt = new Date('2027-01-01T00:00:00.000Z');
    await archive.stage(contentDigest(Buffer.from('a')), others, { ...stagedFor(tenant, 'i0_0_another'), expiresAt });
    await expect(received({})).rejects.toMatchObject({ code: 'SOULS_WAITING' });
    await expect(requireWaitingRoom(archive, tenant)).rejects.toMatchObject({ code: 'SOULS_WAITING' });
    await requireWaitingRoom(archive, 'studi');
    await requireWaitingRoom(archive, 'studio2');
  });
});

describe('a soul uploaded under a CID', () => {
  const asked = (txId: string) => received({ ask: () => Promise.reject(new Error('asked')) }, txId);

  it.each([
    ['its JSON', ownCid],
    ['its binary form', binaryCid],
  ])('is accepted when the CID names %s [8.4g]', async (_, cid) => {
    await expect(asked(cid)).rejects.toThrow('asked');
  });

  it('is refused when the CID names something else [8.4g]', async () => {
    await expect(asked(otherCid)).rejects.toMatchObject({ code: 'SOUL_PAYLOAD_MISMATCH' });
  });

  it('is encoded as binary one at a time, and not for the CID of its JSON', async () => {
    const { opened, open } = gate();
    const held = mutex.runExclusive('binary', () => opened);
    let refused = false;
    const refusal = asked(otherCid).catch((error: unknown) => {
      refused = true;
      return error;
    });
    await expect(asked(ownCid)).rejects.toThrow('asked');
    expect(refused).toBe(false);
    open();
    expect(await refusal).toMatchObject({ code: 'SOUL_PAYLOAD_MISMATCH' });
    await held;
  });
});
