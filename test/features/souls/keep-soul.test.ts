import { describe, expect, it, vi } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { type KeepRequest, keepSoul } from '../../../src/features/souls/keep-soul.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { soulToCbor } from '../../../src/features/souls/domain/binary.js';
import type { SoulDocument } from '../../../src/features/souls/domain/document.js';
import type { IpfsNode } from '../../../src/ports/ipfs-node.js';
import { ManualClock } from '../../support/manual-clock.js';

const sealed = Buffer.from('{"name":"Mira"}');
const digest = contentDigest(sealed);
const cid = 'bafkreih7dhfrbex4j765immfs5txej74yzjrcdn72ihqh4hdtuxx3acfha';
const uploaded = { type: 'uploaded', digest, txId: cid, url: `http://minds/archive/${cid}` };
const away = new Rejection('ARCHIVE_UNAVAILABLE');

const scene = async (add: IpfsNode['add'] | null = null) => {
  const archive = new MemorySoulArchive();
  await archive.stage(digest, sealed, { tenant: 'studio', expiresAt: new Date('2026-01-01T01:00:00.000Z') });
  const others = { name: 'ipfs', fetch: () => Promise.resolve(null), ping: () => Promise.resolve() };
  const ipfs = add && { ...others, add };
  const deps = { archive, clock: new ManualClock(), archives: { ipfs }, issuer: 'http://minds' };
  const keep = (asked: Partial<KeepRequest> = {}) =>
    keepSoul(deps, 'studio', { digest, storage: 'ipfs', ...asked }, new AbortController().signal);
  return { archive, keep };
};

describe('storing a sealed soul', () => {
  it('gives the node exactly the bytes that become public under their CID [7.2f, 7.2g]', async () => {
    const add = vi.fn<IpfsNode['add']>(() => Promise.resolve(cid));
    const { archive, keep } = await scene(add);
    expect(await keep()).toEqual(uploaded);
    expect(add.mock.calls.map(([bytes]) => Buffer.from(bytes).toString())).toEqual([sealed.toString()]);
    expect(await archive.digestOfCid(cid)).toBe(digest);
    expect(await archive.readPublic(digest)).toEqual(new Uint8Array(sealed));
  });

  it('publishes nothing while the node is unavailable, and has the same result on a retry', async () => {
    const add = vi.fn<IpfsNode['add']>(() => Promise.resolve(cid)).mockRejectedValueOnce(away);
    const { archive, keep } = await scene(add);
    await expect(keep()).rejects.toBe(away);
    expect([await archive.digestOfCid(cid), await archive.readPublic(digest)]).toEqual([null, null]);
    expect([await keep(), await keep()]).toEqual([uploaded, uploaded]);
  });

  it('is completed by a repeat, wherever it was interrupted', async () => {
    for (const step of ['nameByCid', 'publish'] as const) {
      const { archive, keep } = await scene();
      vi.spyOn(archive, step).mockRejectedValueOnce(new Rejection('STORE_UNAVAILABLE'));
      await expect(keep()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(await archive.readPublic(digest)).toBeNull();
      expect(await keep()).toEqual(uploaded);
      expect(await archive.readPublic(digest)).not.toBeNull();
    }
  });

  it('fails and stores nothing when the node names the bytes differently [7.2g]', async () => {
    const { archive, keep } = await scene(() => Promise.resolve('another'));
    const reason = expect.stringContaining('names the soul another,') as string;
    expect(await keep()).toEqual({ type: 'failed', code: 'SOUL_UPLOAD_FAILED', reason });
    expect([await archive.digestOfCid(cid), await archive.readPublic(digest)]).toEqual([null, null]);
  });

  it('stores CBOR beside the sealed soul, unpublished', async () => {
    const { archive, keep } = await scene();
    const kept = await keep({ format: 'binary' });
    const { txId } = kept as { txId: string };
    const cbor = soulToCbor({ name: 'Mira' } as unknown as SoulDocument);
    const stored = (await archive.digestOfCid(txId)) ?? '';
    expect(Buffer.from((await archive.readPublic(stored)) ?? [])).toEqual(Buffer.from(cbor));
    expect(await archive.readPublic(digest)).toBeNull();
  });

  it('fails when its CBOR is larger than an archive accepts [7.2e]', async () => {
    const { archive, keep } = await scene();
    const large = Buffer.from(JSON.stringify({ numbers: new Array<number>(2_000_000).fill(1.1) }));
    const of = contentDigest(large);
    await archive.stage(of, large, { tenant: 'studio', expiresAt: new Date('2026-01-01T01:00:00.000Z') });
    expect(await keep({ digest: of, format: 'binary' })).toMatchObject({ type: 'failed', code: 'SOUL_TOO_LARGE' });
    expect(await keep({ digest: of })).toMatchObject({ type: 'uploaded', digest: of });
  });

  it('fails when the sealed soul is gone', async () => {
    const { archive, keep } = await scene(() => Promise.resolve(cid));
    await archive.dropStaged(new Date('2027-01-01T00:00:00.000Z'), 1);
    expect(await keep()).toMatchObject({ type: 'failed', code: 'SOUL_UPLOAD_FAILED' });
  });
});
