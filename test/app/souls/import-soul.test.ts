import { beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../src/adapters/memory/event-store.js';
import { MemorySoulArchive } from '../../../src/adapters/memory/soul-archive.js';
import { Lines } from '../../../src/app/pacing/line.js';
import { ProcessJournal } from '../../../src/app/processes/process-journal.js';
import { type ImportDeps, receiveSoul, UNKNOWN_MS } from '../../../src/app/souls/import-soul.js';
import { signSoul } from '../../../src/app/souls/soul-signer.js';
import { MAX_WAITING_BYTES, requireWaitingRoom, stagedFor } from '../../../src/app/souls/waiting-room.js';
import { Lanes } from '../../../src/app/streams/lanes.js';
import { contentDigest } from '../../../src/domain/shared/content-digest.js';
import { jcs } from '../../../src/domain/shared/json.js';
import { drained } from '../../../src/domain/shared/drained.js';
import { makeProcessId } from '../../../src/domain/shared/process-id.js';
import { Rejection } from '../../../src/domain/shared/rejection.js';
import { importStream } from '../../../src/domain/shared/stream-names.js';
import { soulToCbor } from '../../../src/domain/soul/binary.js';
import { ipfsCid } from '../../../src/domain/soul/ipfs-cid.js';
import type { ProcessEngine } from '../../../src/ports/process-engine.js';
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
let lines: Lines;
let clock: ManualClock;
let events: MemoryEventStore;
beforeEach(async () => {
  archive = new MemorySoulArchive();
  lines = new Lines();
  clock = new ManualClock(START);
  events = new MemoryEventStore();
  for (const txId of ['tx', ownCid, binaryCid, otherCid]) {
    const data = { importId, txId, deadlineAt: '2026-01-01T01:00:00.000Z' };
    await appendNext(events, importStream(tenant, txId), [event(txId, { type: 'SoulImportRequested', data })]);
  }
});

/** An engine that does only what a test says. */
const received = async (engine: Partial<ProcessEngine>, txId = 'tx') => {
  const lanes = new Lanes(events, clock);
  const journal = new ProcessJournal(events);
  const deps: ImportDeps = {
    ...{ events, lanes, journal, clock, archive, trust, lines, soulDeadlineMs: 3_600_000 },
    engine: engine as ProcessEngine,
  };
  return receiveSoul(deps, { tenant, txId, by }, { document: soul, copy: false });
};
const sweptAfter = async (ms: number) => {
  await archive.dropStaged(new Date(Date.parse(START) + ms), 10);
  return (await archive.read(digest)) === null;
};

describe('a soul that was received', () => {
  it('is swept when nobody can tell whether its import knows of it', async () => {
    const ask = () => Promise.reject(new Rejection('ENGINE_UNAVAILABLE', { retryAfter: 1 }));
    await expect(received({ ask })).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    expect(await sweptAfter(UNKNOWN_MS - 1)).toBe(false);
    expect(await sweptAfter(UNKNOWN_MS)).toBe(true);
  });

  it('is not kept when another document was faster', async () => {
    await expect(received({ ask: () => Promise.reject(new Rejection('SOUL_PAYLOAD_MISMATCH')) })).rejects.toMatchObject(
      { code: 'SOUL_PAYLOAD_MISMATCH' },
    );
    expect(await archive.read(digest)).toBeNull();
  });

  it.each<[string, ProcessEngine['outcome']]>([
    ['has not arrived in time', () => Promise.resolve(null)],
    ['cannot be asked for', () => Promise.reject(new Error('no'))],
  ])('is kept for longer than any outage when it %s', async (_, outcome) => {
    const ask = () => Promise.resolve({ answer: undefined, revision: 1, position: 1 });
    await expect(received({ ask, outcome })).rejects.toThrow();
    expect(await sweptAfter(6 * 24 * 3_600_000)).toBe(false);
  });

  it('counts among what waits, for its tenant alone', async () => {
    const others = Buffer.alloc(MAX_WAITING_BYTES);
    const expiresAt = new Date('2027-01-01T00:00:00.000Z');
    await archive.stage(contentDigest(Buffer.from('a')), others, { ...stagedFor(tenant, 'i0_0_another'), expiresAt });
    await expect(received({})).rejects.toMatchObject({ code: 'SOULS_WAITING' });
    await expect(requireWaitingRoom(archive, tenant)).rejects.toMatchObject({ code: 'SOULS_WAITING' });
    await requireWaitingRoom(archive, 'studi');
    await requireWaitingRoom(archive, 'studio2');
  });
});

describe('a soul that comes under a CID', () => {
  const asked = (txId: string) => received({ ask: () => Promise.reject(new Error('asked')) }, txId);

  it.each([
    ['its JSON', ownCid],
    ['its binary form', binaryCid],
  ])('is taken when it names %s', async (_, cid) => {
    await expect(asked(cid)).rejects.toThrow('asked');
  });

  it('is refused when it names something else', async () => {
    await expect(asked(otherCid)).rejects.toMatchObject({ code: 'SOUL_PAYLOAD_MISMATCH' });
  });

  it('is made binary in its turn only, and not for the CID of its JSON', async () => {
    const { opened, open } = gate();
    const held = lines.inTurn('binary', () => opened);
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
