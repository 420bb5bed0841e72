import type { Json } from '../../src/kernel/base/json.js';
import { drained } from '../../src/kernel/base/sliced.js';
import { soulFromCborSlices } from '../../src/features/souls/domain/binary.js';

/** Decodes a soul from CBOR, without yielding. */
export const soulFromCbor = (bytes: Uint8Array): Json => drained(soulFromCborSlices(bytes));
