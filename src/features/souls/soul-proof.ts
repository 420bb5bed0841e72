import type { SoulDocument } from './domain/document.js';
import { proveMemory, type SoulProof } from './domain/parts.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';

/** The inclusion proof of a memory; null if the soul has no memory with this id. Yields to other work in between. */
export const proofOf = (soul: SoulDocument, memoryId: string): Promise<SoulProof | null> =>
  inSlices(proveMemory(soul, memoryId));
