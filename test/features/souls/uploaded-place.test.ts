import { beforeEach, describe, expect, it } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { KeyedMutex, QUEUE_LIMIT } from '../../../src/kernel/concurrency/keyed-mutex.js';
import { uploadedPlace } from '../../../src/features/souls/uploaded-place.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { jcs } from '../../../src/kernel/base/json.js';
import { archiveUnavailable } from '../../../src/ports/archive-unavailable.js';
import type { PayloadSource } from '../../../src/ports/payload-source.js';
import { gate } from '../../support/gate.js';

const soul = { name: 'Mira', memories: [1.5, null] };
const payload = Buffer.from(jcs(soul));
const digest = contentDigest(payload);
const AR_ID = 'x'.repeat(43);

let archive: MemorySoulArchive;
beforeEach(() => {
  archive = new MemorySoulArchive();
});

/** A server with a bundler, whose gateway returns what a test gives it. */
const server = (fetch: PayloadSource['fetch']) => {
  const asked: string[] = [];
  const gateway = {
    name: 'gateway',
    fetch: (id: string, signal: AbortSignal) => {
      asked.push(id);
      return fetch(id, signal);
    },
  };
  const bundler = { url: 'http://up', token: 't', gateway, gatewayUrl: 'http://gateway' };
  const deps = { archive, archives: { bundler }, publicUrl: 'http://here', mutex: new KeyedMutex() };
  return { asked, place: (txId: string | null) => uploadedPlace(deps, digest, txId) };
};
const nothing = (): Promise<null> => Promise.resolve(null);
const uploadedHere = async (): Promise<void> => {
  await archive.stage(digest, payload, { tenant: 'studio', expiresAt: new Date('2100-01-01T00:00:00Z') });
  await archive.publish(digest, { tenant: 'studio', at: new Date('2026-01-01T00:00:00Z') });
};

describe('the location of an uploaded payload', () => {
  it('is the archive of this server if it is there, and then no gateway is asked [8.2f, 8.2g]', async () => {
    await uploadedHere();
    const { place, asked } = server(nothing);
    for (const txId of [null, digest])
      expect(await place(txId)).toEqual({ txId: digest, url: `http://here/archive/${digest}` });
    expect(asked).toEqual([]);
  });

  it.each([null, '', 'x', 'a b', `${AR_ID}x`, '../../etc/passwd', 'x'.repeat(256)])(
    'is unknown for %j, and no gateway is asked for it',
    async (txId) => {
      const { place, asked } = server(nothing);
      await expect(place(txId)).rejects.toMatchObject({ code: 'SOUL_UPLOAD_FAILED' });
      expect(asked).toEqual([]);
    },
  );

  it('is unknown elsewhere without a bundler', async () => {
    const deps = { archive, archives: { bundler: null }, publicUrl: 'http://here', mutex: new KeyedMutex() };
    await expect(uploadedPlace(deps, digest, AR_ID)).rejects.toMatchObject({ code: 'SOUL_UPLOAD_FAILED' });
  });

  it.each<[string, () => Promise<Uint8Array | null>]>([
    ['has nothing under the id yet', nothing],
    ['has the payload', () => Promise.resolve(payload)],
    ['has it in another form', () => Promise.resolve(Buffer.from('{ "memories": [15e-1, null], "name": "Mira" }'))],
    ['cannot be reached', () => Promise.reject(archiveUnavailable('arweave'))],
  ])('is the one that the client gives while the gateway %s [8.2i]', async (_, fetch) => {
    expect(await server(fetch).place(AR_ID)).toEqual({ txId: AR_ID, url: `http://gateway/${AR_ID}` });
  });

  it.each([
    ['another document', '{"name":"Anna"}'],
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['more than a soul can hold', `{"a":[${'[],'.repeat(400_001)}[]]}`],
  ])('is not a gateway that returns something else: %s [8.2i]', async (_, text) => {
    const { place } = server(() => Promise.resolve(Buffer.from(text)));
    await expect(place(AR_ID)).rejects.toMatchObject({ code: 'SOUL_PAYLOAD_MISMATCH' });
  });

  it('is not a gateway that returns more than the largest payload [8.2i]', async () => {
    const { place } = server(() => Promise.resolve('too_large' as const));
    await expect(place(AR_ID)).rejects.toMatchObject({ code: 'SOUL_PAYLOAD_MISMATCH' });
  });

  it('is looked up one at a time, with a bounded queue; a local payload does not wait', async () => {
    const { opened, open } = gate();
    const { place, asked } = server(async () => {
      await opened;
      return null;
    });
    const places = Array.from({ length: QUEUE_LIMIT }, () => place(AR_ID));
    await expect(place(AR_ID)).rejects.toMatchObject({ code: 'BUSY' });
    expect(asked).toHaveLength(1);
    await uploadedHere();
    expect((await place(digest)).txId).toBe(digest);
    open();
    expect((await Promise.all(places)).map(({ txId }) => txId)).toEqual(Array(QUEUE_LIMIT).fill(AR_ID));
    expect(asked).toHaveLength(QUEUE_LIMIT);
  });
});
