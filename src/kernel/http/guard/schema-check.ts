import type { TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

import { isClientId } from '../../base/client-id.js';
import { Rejection } from '../../base/rejection.js';
import { sentenceOf } from '../patterns.js';
import { MAX_BYTES } from '../schemas.js';
import { pointerPart } from '../../base/json-pointer.js';

/** The maximum number of problems listed in one response. */
export const MAX_ISSUES = 50;
/**
 * The maximum number of values for which all problems are listed; for larger bodies only the first problem is named, because a hostile body could
 * cause millions.
 */
const MAX_VALUES_LISTED = 20_000;

/** The maximum number of accepted values in a message. */
const MAX_VALUES_NAMED = 20;

export type Part = 'body' | 'query' | 'path';
/** One problem: where it is (RFC 6901, inside the part) and what is wrong. */
export type Issue = { readonly in: Part; readonly pointer: string; readonly message: string };
/** The problems of a value, or null if it is valid. */
export type SchemaCheck = (value: unknown) => readonly Issue[] | null;

const CLIENT_ID_MESSAGE = 'must be 1 to 128 printable characters without "/", in Unicode form NFC';

const makeAjv = (allErrors: boolean): Ajv => {
  // Unknown keywords are allowed, because schemas have annotations for the OpenAPI document, such as `example`.
  const ajv = new Ajv({ allErrors, strict: false, validateFormats: true, logger: false });
  ajv.addFormat('client-id', isClientId);
  ajv.addKeyword({
    keyword: MAX_BYTES,
    type: 'string',
    schemaType: 'number',
    validate: (most: number, text: string) => Buffer.byteLength(text) <= most,
    error: { message: ({ schema }) => `must be at most ${String(schema)} bytes of UTF-8` },
  });
  return ajv;
};
const first = makeAjv(false);
const every = makeAjv(true);

/** The JSON types in messages. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
};

const either = new Intl.ListFormat('en', { type: 'disjunction' });
/** A long list is truncated; the documentation of the route has all values. */
const oneOf = (words: readonly string[]): string =>
  words.length <= MAX_VALUES_NAMED
    ? either.format(words)
    : `one of ${words.slice(0, MAX_VALUES_NAMED).join(', ')} and ${String(words.length - MAX_VALUES_NAMED)} more`;

const counted = (count: unknown, word: string): string => `${String(count)} ${word}${count === 1 ? '' : 's'}`;

/** Messages of bounds, because those of Ajv are negative ("must NOT have fewer"). */
const boundMessages: Readonly<Record<string, (limit: unknown) => string>> = {
  minLength: (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${counted(limit, 'character')}`),
  maxLength: (limit) => `must have at most ${counted(limit, 'character')}`,
  minItems: (limit) => `must have at least ${counted(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${counted(limit, 'item')}`,
};

const messageOf = ({ keyword, message, params }: ErrorObject): string => {
  const bound = boundMessages[keyword];
  if (bound !== undefined) return bound(params['limit']);
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`;
  if (keyword === 'pattern') return sentenceOf(params['pattern'] as string) ?? message ?? 'is not valid';
  if (keyword === 'required') return 'is missing';
  if (keyword === 'enum') return `must be ${oneOf((params['allowedValues'] as readonly unknown[]).map(String))}`;
  if (keyword !== 'type') return message ?? 'is not valid';
  const types = [params['type'] as string | readonly string[]].flat();
  return `must be ${types.map((type) => TYPE_NAMES[type] ?? type).join(' or ')}`;
};

const isNullOnly = ({ keyword, params }: ErrorObject): boolean => keyword === 'type' && params['type'] === 'null';

/**
 * The errors without redundant ones. For a condition or an alternative, the errors of its branches are enough, and the hint that a value may also be
 * null does not help if a different value was sent. At least one error remains.
 */
const telling = (errors: readonly ErrorObject[]): readonly ErrorObject[] => {
  const isTelling = (error: ErrorObject): boolean => !['if', 'anyOf'].includes(error.keyword) && !isNullOnly(error);
  // The values that have a useful error, or contain one that has.
  const said = new Set<string>();
  for (const { instancePath } of errors.filter(isTelling))
    for (let path = instancePath; !said.has(path); path = path.slice(0, path.lastIndexOf('/'))) {
      said.add(path);
      if (path === '') break;
    }
  const left = errors.filter((error) => error.keyword !== 'if' && (isTelling(error) || !said.has(error.instancePath)));
  return left.length === 0 ? errors.slice(0, 1) : left;
};

const issueOf = (part: Part, error: ErrorObject): Issue => {
  const missing: unknown = error.keyword === 'required' ? error.params['missingProperty'] : undefined;
  const pointer = typeof missing === 'string' ? `${error.instancePath}/${pointerPart(missing)}` : error.instancePath;
  if (error.keyword === 'format' && error.params['format'] === 'client-id')
    return { in: part, pointer, message: CLIENT_ID_MESSAGE };
  return { in: part, pointer, message: messageOf(error) };
};

/** The same value with truncated arrays, or null if it is too large. */
const sampleOf = (value: unknown): { readonly sample: unknown } | null => {
  let left = MAX_VALUES_LISTED;
  const copy = (from: unknown): unknown => {
    left -= 1;
    if (left < 0 || typeof from !== 'object' || from === null) return from;
    if (Array.isArray(from)) return from.slice(0, MAX_ISSUES).map(copy);
    return Object.fromEntries(Object.entries(from).map(([name, member]) => [name, copy(member)]));
  };
  const sample = copy(value);
  return left < 0 ? null : { sample };
};

/**
 * Creates the check of one schema, which is compiled on first use: all of them together take a tenth of a second. Normally it looks only for the
 * first problem; all problems are collected only when there is one. Values are never changed: no coercion, no defaults.
 */
export const checkOf = (part: Part, schema: TSchema): SchemaCheck => {
  let validate: ValidateFunction | null = null;
  let explain: ValidateFunction | null = null;
  return (value) => {
    validate ??= first.compile(schema);
    if (validate(value)) return null;
    const found = validate.errors ?? [];
    const sampled = sampleOf(value);
    explain ??= every.compile(schema);
    const errors = sampled === null || explain(sampled.sample) ? found : (explain.errors ?? found);
    return telling(errors)
      .slice(0, MAX_ISSUES)
      .map((error) => issueOf(part, error));
  };
};

/** The refusal of a request that does not match its schema; ID_INVALID if only ids are wrong. */
export const schemaRejection = (issues: readonly Issue[]): Rejection => {
  const onlyIds = issues.every(({ in: part, message }) => part === 'path' || message === CLIENT_ID_MESSAGE);
  return new Rejection(onlyIds ? 'ID_INVALID' : 'SCHEMA_INVALID', { details: { issues: issues.slice(0, MAX_ISSUES) } });
};
