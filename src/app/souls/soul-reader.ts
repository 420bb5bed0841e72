import { LRUCache } from 'lru-cache';

import type { SoulDocument } from '../../domain/soul/document.js';
import { inSlices } from '../pacing/in-slices.js';
import { Lines } from '../pacing/line.js';
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
export const createSoulReader = (trust: SoulTrust, lines = new Lines()): SoulReader => {
  const remembered = new LRUCache<string, SoulFindings>({ max: REMEMBERED });
  const inspected = async (digest: string, document: unknown): Promise<SoulFindings> => {
    const findings = remembered.get(digest) ?? (await inspectSoul(document));
    remembered.set(digest, findings);
    return findings;
  };
  return {
    judge: async (bytes) => {
      const digest = await inSlices(payloadDigest(bytes));
      const findings =
        remembered.get(digest) ??
        (await lines.inTurn('soul', async () => inspected(digest, await payloadDocument(bytes))));
      return judgeSoul(findings, trust);
    },
    read: async (bytes, use) => {
      const digest = await inSlices(payloadDigest(bytes));
      const known = remembered.get(digest);
      if (known !== undefined && !(await judgeSoul(known, trust)).valid) return null;
      return lines.inTurn('soul', async () => {
        const document = await payloadDocument(bytes);
        const judgement = await judgeSoul(await inspected(digest, document), trust);
        return judgement.valid ? use(document as unknown as SoulDocument, judgement) : null;
      });
    },
  };
};
