import type { Json } from '../../domain/shared/json.js';
import { requireModest } from '../../domain/shared/modest-json.js';
import { soulFromCborSlices } from '../../domain/soul/binary.js';
import { inSlices } from '../pacing/in-slices.js';

const OPENING_BRACE = 0x7b;

/** The media type of a payload. A soul is an object: its JCS form begins with a brace, with which no CBOR of an object begins. */
export const payloadType = (bytes: Uint8Array): 'application/json' | 'application/cbor' =>
  bytes[0] === OPENING_BRACE ? 'application/json' : 'application/cbor';

/**
 * The document in a payload, in either format; any JSON value, and null for bytes that are neither, or would become more values than a soul has.
 * Whether it is a soul, verifySoul tells. Anybody may have written it.
 */
export const payloadDocument = async (bytes: Uint8Array): Promise<Json> => {
  if (payloadType(bytes) === 'application/cbor') return inSlices(soulFromCborSlices(bytes));
  try {
    await inSlices(requireModest(bytes));
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
  } catch {
    return null;
  }
};
