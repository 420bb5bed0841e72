import type { Json } from '../../domain/shared/json.js';
import { readJsonSlices } from '../../domain/shared/read-json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { soulFromCborSlices } from '../../domain/soul/binary.js';
import { inSlices } from '../../concurrency/in-slices.js';

const OPENING_BRACE = 0x7b;

/** The media type of a payload. A soul is an object: its JCS form begins with a brace, with which no CBOR of an object begins. */
export const payloadType = (bytes: Uint8Array): 'application/json' | 'application/cbor' =>
  bytes[0] === OPENING_BRACE ? 'application/json' : 'application/cbor';

/** The value of a JSON text; null for bytes that the one reader of JSON refuses: two readers could see two souls. */
export const jsonDocument = async (bytes: Uint8Array): Promise<Json> => {
  try {
    return (await inSlices(readJsonSlices(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))).value;
  } catch (error) {
    if (error instanceof Rejection) return null;
    throw error;
  }
};

/**
 * The document in a payload, in either format; any JSON value, and null for bytes that are neither, as `jsonDocument`.
 * Whether it is a soul, verifySoul tells. Anybody may have written it.
 */
export const payloadDocument = (bytes: Uint8Array): Promise<Json> =>
  payloadType(bytes) === 'application/cbor' ? inSlices(soulFromCborSlices(bytes)) : jsonDocument(bytes);
