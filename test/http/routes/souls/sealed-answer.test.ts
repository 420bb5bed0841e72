import { describe, expect, it } from 'vitest';

import { BINARY_SHOWN, createSealedPayloads, SEALED_SHOWN } from '../../../../src/app/souls/sealed-payloads.js';
import { soulFromCbor } from '../../../../src/domain/soul/binary.js';
import type { StreamedAnswer } from '../../../../src/http/route.js';
import { firstPhase, soulAtOnce } from '../../../../src/http/routes/souls/sealed-answer.js';

const instruction = { auiEndpoint: 'http://a/archive', auiContentType: 'application/json', auiAuthHeader: 'Bearer g' };
/** Longer than several chunks; the last character of each may be cut in two by them. */
const soulOf = (name: string) => ({ name, text: '\u00e9\u{1f600}'.repeat(100_000) });

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

describe('the answer of an export', () => {
  it('holds the payload, read once, as often as the contract says', async () => {
    const { payloads, reads } = archived();
    const soul = soulOf('a');
    expect(JSON.parse(await textOf(firstPhase(payloads, 'a', instruction, 'e.y"J')))).toEqual({
      se1Instruction: { ...instruction, auiPayload: soul },
      se1SignedPayload: soul,
      se1Signature: 'e.y"J',
    });
    expect(reads).toEqual(['a']);
    expect(JSON.parse(await textOf(soulAtOnce(payloads, 'a', 'json')))).toEqual({
      format: 'json',
      storage: 'local',
      soul,
    });
    const { soul: both } = JSON.parse(await textOf(soulAtOnce(payloads, 'a', 'binary'))) as {
      readonly soul: { readonly binary: string };
    };
    const { binary, ...document } = both;
    expect(document).toEqual(soul);
    expect(soulFromCbor(Buffer.from(binary, 'base64'))).toEqual(soul);
  });

  it('shares one copy with all who read it, and is given to so many and no more', async () => {
    const { payloads, reads } = archived();
    const begin = async (digest: string) => {
      const chunks = chunksOf(firstPhase(payloads, digest, instruction, 's'));
      await chunks.next();
      return chunks;
    };
    const slow = await Promise.all(Array.from({ length: SEALED_SHOWN }, (_, n) => begin(String(n))));
    await begin('0');
    expect(reads).toHaveLength(SEALED_SHOWN);
    await expect(begin('one more')).rejects.toMatchObject({ code: 'BUSY' });
    await slow[1]?.return?.();
    await begin('one more');
  });

  it('in binary form is given to fewer', async () => {
    const { payloads } = archived();
    const begin = (n: number) => chunksOf(soulAtOnce(payloads, String(n), 'binary')).next();
    for (let n = 0; n < BINARY_SHOWN; n += 1) await begin(n);
    await expect(begin(BINARY_SHOWN)).rejects.toMatchObject({ code: 'BUSY' });
    // Who was refused holds nothing.
    for (let n = BINARY_SHOWN; n < SEALED_SHOWN; n += 1) await chunksOf(soulAtOnce(payloads, String(n), 'json')).next();
  });

  it('is a refusal once the payload is there no more', async () => {
    const { payloads } = archived();
    await expect(textOf(firstPhase(payloads, 'gone', instruction, 's'))).rejects.toMatchObject({
      code: 'SOUL_EXCHANGE_EXPIRED',
    });
  });
});
