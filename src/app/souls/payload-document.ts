import type { Sliced } from '../../domain/rules/hold-patterns.js';
import type { Json, JsonObject } from '../../domain/shared/json.js';
import { requireModest } from '../../domain/shared/modest-json.js';
import { soulFromCborSlices } from '../../domain/soul/binary.js';
import { inSlices } from '../../concurrency/in-slices.js';

const OPENING_BRACE = 0x7b;

/** The media type of a payload. A soul is an object: its JCS form begins with a brace, with which no CBOR of an object begins. */
export const payloadType = (bytes: Uint8Array): 'application/json' | 'application/cbor' =>
  bytes[0] === OPENING_BRACE ? 'application/json' : 'application/cbor';

/** How many values are counted before others have their turn: a few milliseconds of work. */
const SLICE_VALUES = 32_768;

/** How many members the objects in a value have, at any depth. */
function* membersIn(value: Json): Sliced<number> {
  const open = [value];
  let members = 0;
  let unpaused = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const isList = Array.isArray(next);
    const inside = isList ? (next as readonly Json[]) : Object.values(next as JsonObject);
    if (!isList) members += inside.length;
    for (const item of inside) if (typeof item === 'object' && item !== null) open.push(item);
    unpaused += inside.length + 1;
    if (unpaused < SLICE_VALUES) continue;
    yield unpaused;
    unpaused = 0;
  }
  return members;
}

/**
 * The value of a JSON text in UTF-8; null for bytes that are none, would become more values than a soul has, or have a name twice in one object: two
 * readers could see two souls.
 */
export const jsonDocument = async (bytes: Uint8Array): Promise<Json> => {
  try {
    const named = await inSlices(requireModest(bytes));
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
    if (typeof value !== 'object' || value === null) return value;
    return (await inSlices(membersIn(value))) === named ? value : null;
  } catch {
    return null;
  }
};

/**
 * The document in a payload, in either format; any JSON value, and null for bytes that are neither, as `jsonDocument`.
 * Whether it is a soul, verifySoul tells. Anybody may have written it.
 */
export const payloadDocument = (bytes: Uint8Array): Promise<Json> =>
  payloadType(bytes) === 'application/cbor' ? inSlices(soulFromCborSlices(bytes)) : jsonDocument(bytes);
