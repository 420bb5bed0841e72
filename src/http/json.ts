import { isUtf8 } from 'node:buffer';

import type { Json } from '../domain/shared/json.js';
import { Rejection } from '../domain/shared/rejection.js';

/** Deepest nesting that is read: the outermost object or array counts as one (contract 1.2). */
export const MAX_DEPTH = 32;

const halfPair = /\p{Surrogate}/u;

/** The refusal of JSON that cannot be read; the reason is a sentence. */
export const refuseJson = (reason: string): Rejection => new Rejection('MALFORMED_JSON', { details: { reason } });

/**
 * Looks at every value once. JSON.parse keeps an own `__proto__`, turns 1e999 into Infinity and lets lone surrogates through. None of them can be
 * stored, compared or hashed safely.
 */
const inspect = (value: Json, depth: number, escapes: boolean): void => {
  if (typeof value === 'string') {
    if (escapes && halfPair.test(value)) throw refuseJson('A text holds half a surrogate pair.');
  } else if (typeof value === 'number') {
    if (value - value !== 0) throw refuseJson('A number is too large.');
  } else if (typeof value === 'object' && value !== null) {
    if (depth === MAX_DEPTH) throw refuseJson(`Nested deeper than ${MAX_DEPTH} levels.`);
    if (Array.isArray(value)) {
      for (const item of value as readonly Json[]) inspect(item, depth + 1, escapes);
      return;
    }
    const members = value as Readonly<Record<string, Json>>;
    for (const name in members) {
      if (name === '__proto__') throw refuseJson('A member has the name __proto__.');
      if (escapes && halfPair.test(name)) throw refuseJson('A member name holds half a surrogate pair.');
      inspect(members[name] as Json, depth + 1, escapes);
    }
  }
};

/**
 * Reads JSON strictly (contract 1.2). If members have the same name, the last one counts.
 * @throws Rejection MALFORMED_JSON, with the reason in its details
 */
export const readJson = (text: string): Json => {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw refuseJson('It cannot be parsed.');
  }
  inspect(value, 0, text.includes('\\u'));
  return value;
};

/** A parsed body, and whether it may contain a `null`. */
export type ParsedJson = { readonly value: Json; readonly mayHoldNull: boolean };

/**
 * Reads the bytes of a body strictly; a byte order mark is not part of JSON.
 * @throws Rejection MALFORMED_JSON, with the reason in its details
 */
export const readJsonBytes = (bytes: Buffer): ParsedJson => {
  if (!isUtf8(bytes)) throw refuseJson('The bytes are not UTF-8.');
  const text = bytes.toString('utf8');
  return { value: readJson(text), mayHoldNull: text.includes('null') };
};
