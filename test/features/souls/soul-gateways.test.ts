import { describe, expect, it, vi } from 'vitest';

import { MemorySoulArchive } from '../../support/memory/soul-archive.js';
import { findPayload } from '../../../src/features/souls/find-payload.js';
import { createSoulGateways, type GatewaySources } from '../../../src/features/souls/soul-gateways.js';
import { contentDigest } from '../../../src/kernel/crypto/content-digest.js';
import { archiveUnavailable } from '../../../src/ports/archive-unavailable.js';
import type { PayloadSource } from '../../../src/ports/payload-source.js';
import { rememberingLog } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';

const hello = Buffer.from('hello world');
const cid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e';
const txId = 'A'.repeat(43);

type Source = PayloadSource & { readonly fetch: ReturnType<typeof vi.fn<PayloadSource['fetch']>> };
const source = (name: string, has: Uint8Array | 'too_large' | null | Error | 'silent' = null): Source => ({
  name,
  fetch: vi.fn<PayloadSource['fetch']>(() =>
    has === 'silent'
      ? new Promise<never>(() => undefined)
      : has instanceof Error
        ? Promise.reject(has)
        : Promise.resolve(has),
  ),
});
const opened = (given: Partial<GatewaySources>) => {
  const [clock, log] = [new ManualClock(), rememberingLog()];
  const gateways = createSoulGateways({ ipfs: [], arweave: [], others: [], ...given }, { clock, log });
  return { gateways, clock, log };
};
const asked = (...sources: readonly Source[]) => sources.map((one) => one.fetch.mock.calls.map(([id]) => id));

describe('the gateways', () => {
  it('are asked by the form of an id, in order, until one has it [8.5g]', async () => {
    const [node, ipfs, arweave, other, last] = ['node', 'ipfs', 'arweave', 'other', 'last'].map((name) =>
      source(name, name === 'other' ? hello : null),
    ) as [Source, Source, Source, Source, Source];
    const { gateways } = opened({ ipfs: [node, ipfs], arweave: [arweave], others: [other, last] });
    expect(await gateways.find(cid, 'studio')).toBe(hello);
    expect(asked(node, ipfs, arweave, other, last)).toEqual([[cid], [cid], [], [cid], []]);
    expect(await gateways.find(txId, 'studio')).toBe(hello);
    expect(asked(node, ipfs, arweave, other, last)).toEqual([[cid], [cid], [txId], [cid, txId], []]);
  });

  it.each(['', 'schema', '../x', `${txId}/`, 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG', 'a'.repeat(42)])(
    'are not asked for %j, which is not a legal id of any archive [8.5g]',
    async (id) => {
      const other = source('other', hello);
      expect(await opened({ others: [other], ipfs: [other], arweave: [other] }).gateways.find(id, 'studio')).toBeNull();
      expect(asked(other)).toEqual([[]]);
    },
  );

  it('return nothing for a CID when the bytes differ, even from several gateways [8.5i]', async () => {
    const [liar, honest] = [source('liar', Buffer.from('hello worlD')), source('honest', hello)];
    const { gateways, log } = opened({ ipfs: [liar], others: [honest] });
    expect(await gateways.find(cid, 'studio')).toBe(hello);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { archive: 'liar', id: cid } }]);
    expect(await opened({ ipfs: [liar] }).gateways.find(cid, 'studio')).toBeNull();
  });

  it('return the payload of another while one is down, and report that only when none has it [8.5j]', async () => {
    const away = source('away', archiveUnavailable('away'));
    expect(await opened({ arweave: [away], others: [source('other', hello)] }).gateways.find(txId, 'studio')).toBe(
      hello,
    );
    const { gateways, log } = opened({ arweave: [away], others: [source('other')] });
    await expect(gateways.find(txId, 'studio')).rejects.toMatchObject({
      code: 'ARCHIVE_UNAVAILABLE',
      details: { archive: 'away' },
      retryAfter: 2,
    });
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { archive: 'away' } }]);
  });

  it('do not hide a defect', async () => {
    const broken = source('broken', new Error('a defect'));
    await expect(opened({ arweave: [broken] }).gateways.find(txId, 'studio')).rejects.toThrow('a defect');
  });

  it('are given up after 10 s in total [8.5h]', async () => {
    const { gateways, clock } = opened({ arweave: [source('silent', 'silent')] });
    const ended = expect(gateways.find(txId, 'studio')).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    await clock.advance(10_000);
    await ended;
  });

  it('that are slow do not delay the next ones [8.5h]', async () => {
    for (const count of [3, 18]) {
      const silent = Array.from({ length: count - 1 }, (_, n) => source(`silent ${n}`, 'silent'));
      const { gateways, clock } = opened({ arweave: silent, others: [source('last', hello)] });
      const found = expect(gateways.find(txId, 'studio')).resolves.toBe(hello);
      for (let waited = 1; waited < count; waited += 1) await clock.advance(Math.ceil(10_000 / count));
      await found;
    }
  });

  it('run at most eight searches at a time, four for one tenant, and accept more afterwards [8.5k]', async () => {
    const silent = source('silent', 'silent');
    const { gateways, clock } = opened({ arweave: [silent] });
    const busy = { code: 'BUSY', retryAfter: 1 };
    const ids = ['A', 'B', 'C', 'D'].map((letter) => letter.repeat(43));
    const searches = Promise.allSettled([
      ...ids.map((id) => gateways.find(id, 'one')),
      ...ids.map((id) => expect(gateways.find(id, 'one')).rejects.toMatchObject(busy)),
      ...ids.map((id) => gateways.find(id, 'two')),
      expect(gateways.find(txId, 'three')).rejects.toMatchObject(busy),
    ]);
    expect(asked(silent)[0]).toHaveLength(8);
    await clock.advance(10_000);
    const outcomes = (await searches).map(({ status }) => status);
    expect(outcomes.map((status) => status === 'fulfilled')).toEqual([
      ...ids.map(() => false),
      ...ids.map(() => true),
      ...ids.map(() => false),
      true,
    ]);
    silent.fetch.mockResolvedValue(hello);
    await clock.advance(2_000);
    expect(await gateways.find(txId, 'one')).toBe(hello);
  });

  it('are not asked again immediately for a missing id, but soon after [8.5l]', async () => {
    const [none, large, liar] = [source('none'), source('large', 'too_large'), source('liar', Buffer.from('x'))];
    const { gateways, clock, log } = opened({ ipfs: [none, large, liar] });
    for (let asks = 0; asks < 3; asks += 1) expect(await gateways.find(cid, 'studio')).toBeNull();
    expect(asked(none, large, liar)).toEqual([[cid], [cid], [cid]]);
    expect(log.lines.map(({ fields }) => fields)).toMatchObject([{ archive: 'large' }, { archive: 'liar' }]);
    await clock.advance(4_999);
    expect(await gateways.find(cid, 'studio')).toBeNull();
    expect(asked(none)[0]).toHaveLength(1);
    none.fetch.mockResolvedValue(hello);
    await clock.advance(1);
    expect(await gateways.find(cid, 'studio')).toBe(hello);
  });

  it('that were down are not asked for this id during the retry interval [8.5l]', async () => {
    const [away, other] = [source('away', archiveUnavailable('away')), source('other')];
    const { gateways, clock, log } = opened({ arweave: [away], others: [other] });
    const unavailable = { code: 'ARCHIVE_UNAVAILABLE', details: { archive: 'away' } };
    for (let asks = 0; asks < 3; asks += 1) {
      await expect(gateways.find(txId, 'studio')).rejects.toMatchObject(unavailable);
    }
    expect(asked(away, other)).toEqual([[txId], [txId]]);
    expect(log.lines).toHaveLength(1);
    away.fetch.mockResolvedValue(hello);
    expect(await gateways.find('B'.repeat(43), 'studio')).toBe(hello);
    await clock.advance(1_999);
    await expect(gateways.find(txId, 'studio')).rejects.toMatchObject(unavailable);
    await clock.advance(1);
    expect(await gateways.find(txId, 'studio')).toBe(hello);
  });

  it('remember a bounded number of ids', async () => {
    const other = source('other');
    const { gateways } = opened({ others: [other] });
    const idOf = (at: number): string => String(at).padStart(43, '_');
    for (let at = 0; at <= 1_024; at += 1) await gateways.find(idOf(at), 'studio');
    await gateways.find(idOf(1_024), 'studio');
    expect(asked(other)[0]).toHaveLength(1_025);
    await gateways.find(idOf(0), 'studio');
    expect(asked(other)[0]).toHaveLength(1_026);
  });

  it('are not asked for an id that is now in this server’s own archive', async () => {
    const { gateways } = opened({ others: [source('other')] });
    const archive = new MemorySoulArchive();
    const digest = contentDigest(hello);
    expect(await findPayload({ archive, gateways }, digest, 'studio')).toBeNull();
    await archive.stage(digest, hello, { tenant: 'studio', expiresAt: new Date('2026-01-01T01:00:00.000Z') });
    await archive.publish(digest, { tenant: 'studio', at: new Date('2026-01-01T00:00:00Z') });
    expect(await findPayload({ archive, gateways }, digest, 'studio')).toMatchObject({ isKept: true });
  });
});
