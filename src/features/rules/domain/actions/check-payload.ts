import { isObject, type Json, jsonBytes, type JsonObject, sizeAtMost } from '../../../../kernel/base/json.js';
import { nearestName } from '../../../../kernel/base/nearest.js';
import { cutText } from '../../../../kernel/base/text.js';
import { PAYLOAD_BYTES, type PayloadSchema, type PayloadType, propertyOf } from './payload-schema.js';
import { pointerPart } from '../../../../kernel/base/json-pointer.js';

/** What is wrong with a value: where (a JSON Pointer, RFC 6901), and what it must be. */
export type PayloadProblem = { readonly pointer: string; readonly problem: string };

/** How much of a name and of a list of values a problem shows, in UTF-16 units. */
const NAME_CHARS = 64;
const VALUES_CHARS = 200;

const TYPE_NAMES: Readonly<Record<PayloadType, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

const isOf = (type: PayloadType, value: Json): boolean => {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
};

/** JSON Schema counts characters, not UTF-16 units. */
const charsOf = (text: string): number => [...text].length;

const numberProblem = (value: number, schema: PayloadSchema): string | null => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be above ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `must be below ${exclusiveMaximum}`;
  return null;
};

const lengthProblem = (length: number, of: string, least = 0, most = Infinity): string | null => {
  const counted = (count: number): string => `${count} ${of}${count === 1 ? '' : 's'}`;
  if (length < least) return `must have at least ${counted(least)}`;
  return length > most ? `must have at most ${counted(most)}` : null;
};

/** What is wrong with a value itself, without its members. */
const valueProblem = (value: Json, schema: PayloadSchema): string | null => {
  const { type } = schema;
  if (type !== undefined && !isOf(type, value)) return `must be ${TYPE_NAMES[type]}`;
  const allowed = schema.const === undefined ? schema.enum : [schema.const];
  if (allowed?.includes(value) === false)
    return `must be ${cutText(allowed.map((one) => JSON.stringify(one)).join(' or '), VALUES_CHARS)}`;
  if (typeof value === 'number') return numberProblem(value, schema);
  if (typeof value === 'string') return lengthProblem(charsOf(value), 'character', schema.minLength, schema.maxLength);
  return Array.isArray(value) ? lengthProblem(value.length, 'element', schema.minItems, schema.maxItems) : null;
};

const shownName = (name: string): string => JSON.stringify(cutText(name.toWellFormed(), NAME_CHARS));
const below = (pointer: string, name: string): string =>
  `${pointer}/${pointerPart(cutText(name.toWellFormed(), NAME_CHARS))}`;

const memberProblem = (value: JsonObject, schema: PayloadSchema, pointer: string): PayloadProblem | null => {
  const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) {
    const known = schema.properties ?? {};
    const instead = nearestName(
      missing,
      Object.keys(value).filter((name) => !Object.hasOwn(known, name)),
    );
    return {
      pointer: below(pointer, missing),
      problem: `is missing${instead === undefined ? '' : `; ${shownName(instead)} is not its name`}`,
    };
  }
  for (const [name, member] of Object.entries<Json>(value)) {
    const property = propertyOf(schema, name);
    if (property !== undefined) {
      const found = problemIn(member, property, below(pointer, name));
      if (found !== null) return found;
    } else if (schema.additionalProperties === false)
      return { pointer: below(pointer, name), problem: 'does not belong there' };
  }
  return null;
};

const problemIn = (value: Json, schema: PayloadSchema, pointer: string): PayloadProblem | null => {
  const problem = valueProblem(value, schema);
  if (problem !== null) return { pointer, problem };
  if (isObject(value)) return memberProblem(value, schema, pointer);
  if (!Array.isArray(value) || schema.items === undefined) return null;
  for (const [index, element] of (value as readonly Json[]).entries()) {
    const found = problemIn(element, schema.items, `${pointer}/${index}`);
    if (found !== null) return found;
  }
  return null;
};

const isTooLarge = (value: Json): boolean => {
  // A value has at least two bytes, its comma included.
  const size = sizeAtMost(value, PAYLOAD_BYTES / 2);
  if (size.values > PAYLOAD_BYTES / 2) return true;
  return size.bytesAtMost > PAYLOAD_BYTES && jsonBytes(value) > PAYLOAD_BYTES;
};

/** The first thing that is wrong with a value; null if it satisfies the schema. @param value within PAYLOAD_BYTES */
export const schemaProblem = (value: Json, schema: PayloadSchema): PayloadProblem | null =>
  problemIn(value, schema, '');

/** The first thing that is wrong with a payload; null if it is as its schema says. The cost is bounded by PAYLOAD_BYTES, however large the payload. */
export const payloadProblem = (payload: Json | undefined, schema: PayloadSchema): PayloadProblem | null => {
  const value = payload ?? {};
  return isTooLarge(value)
    ? { pointer: '', problem: `has more than ${PAYLOAD_BYTES} bytes` }
    : schemaProblem(value, schema);
};
