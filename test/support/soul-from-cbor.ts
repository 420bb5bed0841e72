import type { Json } from '../../src/kernel/base/json.js';
import { drained } from '../../src/kernel/base/sliced.js';
import { soulFromCborSlices } from '../../src/features/souls/domain/binary.js';

/** What CBOR of a soul holds, at once. */
export const soulFromCbor = (bytes: Uint8Array): Json => drained(soulFromCborSlices(bytes));
