import type { TObject, TSchema } from '@sinclair/typebox';

import { isClientId, plainId } from '../../base/client-id.js';
import { Rejection } from '../../base/rejection.js';
import { checkOf, schemaRejection } from './schema-check.js';

/** Parameters with ids that clients choose; all others are ids of the server. */
const clientIds: readonly string[] = ['npcId', 'rulesetId', 'agentId', 'levelId'];

const plain = /^[\w-]*$/;

/** One path segment decoded once, or null if its escapes are malformed or hide a separator. */
const decodeSegment = (segment: string): string | null => {
  if (plain.test(segment)) return segment;
  try {
    const text = decodeURIComponent(segment);
    // Ids of the server are ASCII and contain no control characters or slashes.
    // eslint-disable-next-line no-control-regex
    return /[\x00-\x1f/]/.test(text) ? null : text;
  } catch {
    return null;
  }
};

/** Whether decoding alone is sufficient, so that the schema adds nothing. */
const isDecided = (schema: TSchema): boolean => {
  const { type, format, description: _description, examples: _examples, ...rest } = schema as Record<string, unknown>;
  return type === 'string' && (format === undefined || format === 'client-id') && Object.keys(rest).length === 0;
};

/** The parameter names of a path, in order. */
export const paramNames = (path: string): readonly string[] =>
  Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name ?? '');

/**
 * The id in one segment of a path, percent-decoded once. Bytes sent without escapes are read as UTF-8.
 * @returns null if an escape or the id is invalid
 */
const decodeClientId = (segment: string): string | null => {
  if (plainId.test(segment)) return segment;
  const escaped = segment.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  try {
    const id = decodeURIComponent(escaped);
    return isClientId(id) ? id : null;
  } catch {
    return null;
  }
};

/**
 * Reads a route's parameters from the raw segments of its path, because the router decodes differently and lets broken escapes pass.
 * @throws Rejection ID_INVALID
 */
export const compilePathParams = (path: string, schema: TObject | undefined) => {
  const readers = paramNames(path).map((name) => ({
    name,
    decode: clientIds.includes(name) ? decodeClientId : decodeSegment,
  }));
  const check =
    schema === undefined || Object.values(schema.properties).every(isDecided) ? null : checkOf('path', schema);
  return (segments: readonly string[]): Readonly<Record<string, string>> => {
    const params: Record<string, string> = {};
    for (let index = 0; index < readers.length; index += 1) {
      const reader = readers[index];
      if (reader === undefined) continue;
      const value = reader.decode(segments[index] ?? '');
      if (value === null) throw new Rejection('ID_INVALID', { details: { parameter: reader.name } });
      params[reader.name] = value;
    }
    const issues = check?.(params) ?? null;
    if (issues !== null) throw schemaRejection(issues);
    return params;
  };
};
