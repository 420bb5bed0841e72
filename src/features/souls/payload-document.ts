import type { Json } from '../../kernel/base/json.js';
import { readJsonSlices } from '../../kernel/base/read-json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { soulFromCborSlices } from './domain/binary.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';

/** How the JSON of an object may begin: with a byte order mark, white space, and then a brace. A map in CBOR never does. */
const JSON_OBJECT = /^(?:\xef\xbb\xbf)?[ \t\n\r]*\{/;
/** How much of the beginning is looked at, in bytes. */
const BEGINNING = 1_024;

/** The media type of a payload, which is an object. */
export const payloadType = (bytes: Uint8Array): 'application/json' | 'application/cbor' =>
  JSON_OBJECT.test(Buffer.from(bytes.subarray(0, BEGINNING)).toString('latin1'))
    ? 'application/json'
    : 'application/cbor';

/** The value of a JSON text; null for bytes that the shared JSON reader refuses: two readers could see two different souls. */
export const jsonDocument = async (bytes: Uint8Array): Promise<Json> => {
  try {
    return (await inSlices(readJsonSlices(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))).value;
  } catch (error) {
    if (error instanceof Rejection) return null;
    throw error;
  }
};

/**
 * The document in a payload, in either format; any JSON value, and null for bytes that are neither, like `jsonDocument`. The payload is untrusted:
 * verifySoul decides whether the document is a soul.
 */
export const payloadDocument = (bytes: Uint8Array): Promise<Json> =>
  payloadType(bytes) === 'application/cbor' ? inSlices(soulFromCborSlices(bytes)) : jsonDocument(bytes);
