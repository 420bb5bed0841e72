import type { SoulDocument } from './domain/document.js';
import { proveMemory, type SoulProof } from './domain/parts.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';

/** The inclusion proof of a memory (contract 8.8); null when the soul has no memory with this id. The work lets others run in between. */
export const proofOf = (soul: SoulDocument, memoryId: string): Promise<SoulProof | null> =>
  inSlices(proveMemory(soul, memoryId));
