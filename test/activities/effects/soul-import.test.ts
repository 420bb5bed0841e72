import { beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { soulImportEffects } from '../../../activities/effects/soul-import.js';
import { stagedFor } from '../../../src/features/souls/waiting-room.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { jcs, type JsonObject } from '../../../src/kernel/base/json.js';
import { importStream } from '../../../src/kernel/base/stream-names.js';
import { signSoul } from '../../../src/features/souls/soul-signer.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ISSUER, serverKeys, soulMemories, unsignedSoul } from '../../support/souls.js';

const tenant = 'studio';
const importId = 'i1';
const keys = await serverKeys('a stranger');
const soul = await signSoul(keys, ISSUER, unsignedSoul({ memories: soulMemories(1_000) }));
const bytes = Buffer.from(jcs(soul));
const digest = contentDigest(bytes);
const { id: soulId, trainingProof: root, npcId } = soul;
const args: JsonObject = {
  ...{ importId, txId: 'tx', receivedAt: '2026-01-01T00:00:00.000Z' },
  soul: {
    soulId,
    digest,
    root,
    kid: keys.current.kid,
    signer: 'unknown',
    npcId,
    copy: false,
    memories: 1_000,
    bytes: 1,
  },
};

let archive: MemorySoulArchive;
let events: MemoryEventStore;
const stage = () =>
  archive.stage(digest, bytes, { ...stagedFor(tenant, importId), expiresAt: new Date('2026-01-08T00:00:00.000Z') });
/** One attempt, by a process that has just started. */
const attempt = async (appends = Infinity) => {
  const clock = new ManualClock('2026-01-01T00:00:00.000Z');
  const append = events.append.bind(events);
  let left = appends;
  events.append = (...all) => {
    left -= 1;
    return left < 0 ? Promise.reject(new Error('killed')) : append(...all);
  };
  const effects = soulImportEffects({
    ports: { events, soulArchive: archive, clock },
    writers: new StreamWriters(events, clock),
  });
  const ref = { process: 'soulImport', stream: importStream(tenant, 'tx'), id: importId };
  try {
    return await effects.effect(ref, { id: 'arrive', name: 'arrive', args }, new AbortController().signal);
  } finally {
    events.append = append;
  }
};

beforeEach(async () => {
  archive = new MemorySoulArchive();
  events = new MemoryEventStore();
  await stage();
});

describe('The import of a soul whose document is lost', () => {
  const lose = () => archive.unstage(digest, stagedFor(tenant, importId));

  it('is refused when nothing of the soul has arrived', async () => {
    await lose();
    expect(await attempt()).toMatchObject({ type: 'refused', code: 'SOUL_DOWNLOAD_FAILED' });
  });

  it('completes when half of the soul had arrived and the document is uploaded again', async () => {
    await expect(attempt(3)).rejects.toThrow('killed');
    await lose();
    await expect(attempt()).rejects.toThrow(`the archive has lost the soul ${digest}`);
    await stage();
    expect(await attempt()).toMatchObject({ type: 'arrived', npcId });
    expect(await archive.read(digest)).toBeNull();
  });
});
