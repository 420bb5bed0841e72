import type { Json } from '../../src/domain/shared/json.js';
import { drained } from '../../src/domain/shared/sliced.js';
import { soulFromCborSlices } from '../../src/domain/soul/binary.js';

/** What CBOR of a soul holds, at once. */
export const soulFromCbor = (bytes: Uint8Array): Json => drained(soulFromCborSlices(bytes));
