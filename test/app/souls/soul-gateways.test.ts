import { describe, expect, it, vi } from 'vitest';

import { createSoulGateways, type GatewaySources } from '../../../src/app/souls/soul-gateways.js';
import { archiveUnavailable } from '../../../src/domain/soul/archive-unavailable.js';
import type { PayloadSource } from '../../../src/ports/payload-source.js';
import { rememberingLog } from '../../support/http.js';
import { ManualClock } from '../../support/manual-clock.js';

const hello = Buffer.from('hello world');
const cid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e';
const txId = 'A'.repeat(43);

type Source = PayloadSource & { readonly fetch: ReturnType<typeof vi.fn<PayloadSource['fetch']>> };
const source = (name: string, has: Uint8Array | null | Error | 'silent' = null): Source => ({
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
  it('are asked by the form of an id, in order, until one has it', async () => {
    const [node, ipfs, arweave, other, last] = ['node', 'ipfs', 'arweave', 'other', 'last'].map((name) =>
      source(name, name === 'other' ? hello : null),
    ) as [Source, Source, Source, Source, Source];
    const { gateways } = opened({ ipfs: [node, ipfs], arweave: [arweave], others: [other, last] });
    expect(await gateways.find(cid)).toBe(hello);
    expect(asked(node, ipfs, arweave, other, last)).toEqual([[cid], [cid], [], [cid], []]);
    expect(await gateways.find(txId)).toBe(hello);
    expect(asked(node, ipfs, arweave, other, last)).toEqual([[cid], [cid], [txId], [cid, txId], []]);
  });

  it.each(['', 'schema', '../x', `${txId}/`, 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG', 'a'.repeat(42)])(
    'are not asked for %j, which no archive has as an id',
    async (id) => {
      const other = source('other', hello);
      expect(await opened({ others: [other], ipfs: [other], arweave: [other] }).gateways.find(id)).toBeNull();
      expect(asked(other)).toEqual([[]]);
    },
  );

  it('have nothing under a CID when the bytes are others, whoever says them', async () => {
    const [liar, honest] = [source('liar', Buffer.from('hello worlD')), source('honest', hello)];
    const { gateways, log } = opened({ ipfs: [liar], others: [honest] });
    expect(await gateways.find(cid)).toBe(hello);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { archive: 'liar', id: cid } }]);
    expect(await opened({ ipfs: [liar] }).gateways.find(cid)).toBeNull();
  });

  it('have what another has while one is away, and say so only when none has it', async () => {
    const away = source('away', archiveUnavailable('away'));
    expect(await opened({ arweave: [away], others: [source('other', hello)] }).gateways.find(txId)).toBe(hello);
    const { gateways, log } = opened({ arweave: [away], others: [source('other')] });
    await expect(gateways.find(txId)).rejects.toMatchObject({
      code: 'ARCHIVE_UNAVAILABLE',
      details: { archive: 'away' },
      retryAfter: 2,
    });
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { archive: 'away' } }]);
  });

  it('do not hide a defect', async () => {
    const broken = source('broken', new Error('a defect'));
    await expect(opened({ arweave: [broken] }).gateways.find(txId)).rejects.toThrow('a defect');
  });

  it('are given up after 10 s together', async () => {
    const { gateways, clock } = opened({ arweave: [source('silent', 'silent')] });
    const ended = expect(gateways.find(txId)).rejects.toMatchObject({ code: 'ARCHIVE_UNAVAILABLE' });
    await clock.advance(10_000);
    await ended;
  });

  it('that are slow do not keep those after them from being asked', async () => {
    const silent = [source('silent', 'silent'), source('silent too', 'silent')];
    const last = source('last', hello);
    const { gateways, clock } = opened({ arweave: silent, others: [last] });
    const found = gateways.find(txId);
    for (let waited = 0; waited < 2; waited += 1) await clock.advance(3_400);
    expect(await found).toBe(hello);
  });

  it('search for eight at once, and then again', async () => {
    const silent = source('silent', 'silent');
    const { gateways, clock } = opened({ arweave: [silent] });
    const searches = Promise.allSettled(Array.from({ length: 8 }, () => gateways.find(txId)));
    await expect(gateways.find(txId)).rejects.toMatchObject({ code: 'BUSY' });
    await clock.advance(10_000);
    await searches;
    silent.fetch.mockResolvedValue(hello);
    expect(await gateways.find(txId)).toBe(hello);
  });
});
