import { describe, expect, it } from 'vitest';

import {
  BINARY_SHOWN,
  createSealedPayloads,
  SEALED_SHOWN,
  TENANT_BINARY_SHOWN,
  TENANT_SEALED_SHOWN,
} from '../../../../src/features/souls/sealed-payloads.js';
import { countTurns } from '../../../support/loop-turns.js';
import { soulMemories, unsignedSoul } from '../../../support/souls.js';
import { soulFromCbor } from '../../../support/soul-from-cbor.js';
import type { StreamedAnswer } from '../../../../src/kernel/http/route.js';
import { firstPhase, secondPhase, soulAtOnce } from '../../../../src/features/souls/http/sealed-answer.js';

const instruction = { auiEndpoint: 'http://a/archive', auiContentType: 'application/json', auiAuthHeader: 'Bearer g' };
/** Longer than several chunks, which may split the last character of each. */
const soulOf = (name: string) => ({ name, text: '\u00e9\u{1f600}'.repeat(100_000) });

const of = (digest: string, tenant = 'local') => ({ digest, tenant });

const archived = () => {
  const reads: string[] = [];
  const payloads = createSealedPayloads({
    read: async (digest) => {
      reads.push(digest);
      return digest === 'gone' ? null : Buffer.from(JSON.stringify(soulOf(digest)));
    },
  });
  return { payloads, reads };
};

const chunksOf = ({ chunks }: StreamedAnswer) => chunks(new AbortController().signal)[Symbol.asyncIterator]();
const textOf = async (answer: StreamedAnswer): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.chunks(new AbortController().signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
};

describe('the response of a confirmed export', () => {
  it('is made and sent in chunks', async () => {
    const soul = { ...unsignedSoul({ memories: soulMemories(2_000) }), trainingProof: '', signature: 'a.b' };
    using turns = countTurns();
    const answer = await secondPhase(soul, 'a.b', { txId: 't', url: 'http://a/archive/t' });
    expect(turns.count).toBeGreaterThan(5);
    const sizes: number[] = [];
    for await (const chunk of answer.chunks(new AbortController().signal)) sizes.push(chunk.length);
    expect(sizes.length).toBeGreaterThan(10);
    expect(Math.max(...sizes)).toBeLessThan(65_536);
    const { soul: shown, ...place } = JSON.parse(await textOf(answer)) as { soul: { memories: unknown[] } };
    expect(place).toEqual({ txId: 't', arweaveUrl: 'http://a/archive/t', signature: 'a.b' });
    expect([shown, shown.memories.length]).toMatchObject([{ id: soul.id, name: soul.name, state: soul.state }, 2_000]);
  });
});

describe('the response of an export', () => {
  it('contains the payload, read once, in each field that needs it', async () => {
    const { payloads, reads } = archived();
    const soul = soulOf('a');
    expect(JSON.parse(await textOf(firstPhase(payloads, of('a'), instruction, 'e.y"J')))).toEqual({
      se1Instruction: { ...instruction, auiPayload: soul },
      se1SignedPayload: soul,
      se1Signature: 'e.y"J',
    });
    expect(reads).toEqual(['a']);
    expect(JSON.parse(await textOf(soulAtOnce(payloads, of('a'), 'json')))).toEqual({
      format: 'json',
      storage: 'local',
      soul,
    });
    const { soul: both } = JSON.parse(await textOf(soulAtOnce(payloads, of('a'), 'binary'))) as {
      readonly soul: { readonly binary: string };
    };
    const { binary, ...document } = both;
    expect(document).toEqual(soul);
    expect(soulFromCbor(Buffer.from(binary, 'base64'))).toEqual(soul);
  });

  it('shares one copy among the readers of a tenant, and is limited in number, per tenant to fewer [8.1k]', async () => {
    const { payloads, reads } = archived();
    const begin = async (digest: string, tenant: string) => {
      const chunks = chunksOf(firstPhase(payloads, of(digest, tenant), instruction, 's'));
      await chunks.next();
      return chunks;
    };
    const slow = await Promise.all(Array.from({ length: TENANT_SEALED_SHOWN }, (_, n) => begin(String(n), 'a')));
    await begin('0', 'a');
    expect(reads).toHaveLength(TENANT_SEALED_SHOWN);
    expect([TENANT_SEALED_SHOWN, SEALED_SHOWN]).toEqual([8, 16]);
    await expect(begin('one more', 'a')).rejects.toMatchObject({ code: 'BUSY' });
    for (let n = TENANT_SEALED_SHOWN; n < SEALED_SHOWN; n += 1) await begin(String(n), 'b');
    await expect(begin('another', 'c')).rejects.toMatchObject({ code: 'BUSY' });
    await slow[1]?.return?.();
    await begin('one more', 'a');
  });

  it('in binary form is limited to fewer [8.1k]', async () => {
    const { payloads } = archived();
    const begin = (n: number, tenant: string) => chunksOf(soulAtOnce(payloads, of(String(n), tenant), 'binary')).next();
    expect([TENANT_BINARY_SHOWN, BINARY_SHOWN]).toEqual([2, 4]);
    for (let n = 0; n < TENANT_BINARY_SHOWN; n += 1) await begin(n, 'a');
    await expect(begin(TENANT_BINARY_SHOWN, 'a')).rejects.toMatchObject({ code: 'BUSY' });
    for (let n = TENANT_BINARY_SHOWN; n < BINARY_SHOWN; n += 1) await begin(n, 'b');
    await expect(begin(BINARY_SHOWN, 'c')).rejects.toMatchObject({ code: 'BUSY' });
    // A refused request holds nothing.
    for (let n = BINARY_SHOWN; n < TENANT_SEALED_SHOWN; n += 1)
      await chunksOf(soulAtOnce(payloads, of(String(n), 'c'), 'json')).next();
  });

  it('is a refusal after the payload is gone', async () => {
    const { payloads } = archived();
    await expect(textOf(firstPhase(payloads, of('gone'), instruction, 's'))).rejects.toMatchObject({
      code: 'SOUL_EXCHANGE_EXPIRED',
    });
  });
});
