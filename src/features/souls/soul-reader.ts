import { LRUCache } from 'lru-cache';

import type { SoulDocument } from './domain/document.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { payloadDigest } from './payload-digest.js';
import { payloadDocument } from './payload-document.js';
import { inspectSoul, judgeSoul, type SoulFindings, type SoulJudgement, type SoulTrust } from './verify-soul.js';

/** Of how many payloads it is remembered what stands in them: a few hundred bytes each. */
const REMEMBERED = 4_096;

type ValidSoul = Extract<SoulJudgement, { valid: true }>;

export type SoulReader = {
  /** Whether a payload is a soul that this server takes. @throws Rejection BUSY, and as judgeSoul */
  judge(bytes: Uint8Array): Promise<SoulJudgement>;
  /** Uses the soul in a payload; null when it is none that this server takes. @throws Rejection BUSY, as judgeSoul, and what `use` throws */
  read<T>(bytes: Uint8Array, use: (soul: SoulDocument, by: ValidSoul) => Promise<T>): Promise<T | null>;
};

/**
 * Reads payloads that anybody may have written. A soul takes much memory while it is read, and time: one after the other. What its bytes alone decide is
 * remembered by their digest; whom the server trusts, and which keys are its own, is asked each time. No document is kept.
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
    // Nobody else waits while it is asked whose key it is: for a stranger's that takes up to a second.
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
