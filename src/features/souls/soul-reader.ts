import { LRUCache } from 'lru-cache';

import type { SoulDocument } from './domain/document.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { payloadDigest } from '../../kernel/crypto/content-digest.js';
import { payloadDocument } from './payload-document.js';
import { inspectSoul, judgeSoul, type SoulFindings, type SoulJudgement, type SoulTrust } from './verify-soul.js';

/** The number of payloads whose contents are remembered: a few hundred bytes each. */
const REMEMBERED = 4_096;

type ValidSoul = Extract<SoulJudgement, { valid: true }>;

export type SoulReader = {
  /** Whether a payload is a soul that this server accepts. @throws Rejection BUSY, and as judgeSoul */
  judge(bytes: Uint8Array): Promise<SoulJudgement>;
  /** Uses the soul in a payload; null if it is not one that this server accepts. @throws Rejection BUSY, as judgeSoul, and what `use` throws */
  read<T>(bytes: Uint8Array, use: (soul: SoulDocument, by: ValidSoul) => Promise<T>): Promise<T | null>;
};

/**
 * Reads untrusted payloads. Reading a soul takes much memory and time, so it is sequential. Findings that depend only on the bytes are cached by
 * digest; trust and the server's own keys are checked each time. No document is kept.
 */
export const createSoulReader = (trust: SoulTrust, mutex = new KeyedMutex()): SoulReader => {
  const remembered = new LRUCache<string, SoulFindings>({ max: REMEMBERED });
  const findingsOf = async (digest: string, bytes: Uint8Array): Promise<SoulFindings> => {
    const found = remembered.get(digest) ?? (await inspectSoul(await payloadDocument(bytes)));
    remembered.set(digest, found);
    return found;
  };
  const judge = async (bytes: Uint8Array): Promise<SoulJudgement> => {
    const digest = await inSlices(payloadDigest(bytes));
    const findings = remembered.get(digest) ?? (await mutex.runExclusive('soul', () => findingsOf(digest, bytes)));
    // Outside the queue, because finding out whose key it is takes up to a second for a foreign one.
    return judgeSoul(findings, trust);
  };
  return {
    judge,
    read: async (bytes, use) => {
      const judgement = await judge(bytes);
      if (!judgement.valid) return null;
      return mutex.runExclusive('soul', async () =>
        use((await payloadDocument(bytes)) as unknown as SoulDocument, judgement),
      );
    },
  };
};
