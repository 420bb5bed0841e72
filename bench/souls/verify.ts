import { createHash, createPublicKey, verify } from 'node:crypto';

import { decodeProtectedHeader } from 'jose';

import { verifySoul } from '../../src/features/souls/verify-soul.js';
import type { Effort } from '../effort.js';
import { milliseconds, type PartReport, whole } from '../report.js';
import { measurePair, ratioOf, spreadOf } from '../rounds.js';
import { strangersSoul } from './document.js';

/** The metadata of each memory, so that all of them are about 10 MB. */
const NOTES_BYTES = 800;

const nobody = {
  keys: { publicKey: () => Promise.resolve(undefined), isVoid: () => false },
  issuer: '',
  trusted: null,
};

const since = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

/** Reading and verifying a large soul, against reading it, hashing its text and checking one signature. */
export const measureVerify = async ({ rounds, soulMemories }: Effort): Promise<PartReport> => {
  const soul = await strangersSoul(soulMemories, NOTES_BYTES);
  const text = JSON.stringify(soul);
  const [head = '', claims = '', signature = ''] = soul.signature.split('.');
  const { jwk } = decodeProtectedHeader(soul.signature);
  const key = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' });
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) {
    const ours = () =>
      since(async () => {
        const { valid } = await verifySoul(JSON.parse(text), nobody);
        if (!valid) throw new Error('the soul is not valid');
      });
    const reference = () =>
      since(() => {
        JSON.parse(text);
        createHash('sha256').update(text).digest();
        const signed = Buffer.from(`${head}.${claims}`);
        if (!verify(null, signed, key, Buffer.from(signature, 'base64url'))) throw new Error('the key did not sign it');
      });
    pairs.push(await measurePair(round, ours, reference));
  }
  return {
    figures: [
      {
        what: `verify a soul of ${whole(Buffer.byteLength(text) / 1_000_000)} MB`,
        ours: milliseconds(spreadOf(pairs.map(({ ours }) => ours)).median),
        reference: `parse, hash, one signature: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio: ratioOf(pairs),
        goal: null,
      },
    ],
    remarks: [],
  };
};
