import type { TObject, TSchema } from '@sinclair/typebox';

import { checkOf, type Issue } from './schema-check.js';

export type CheckedQuery = { readonly query: Readonly<Record<string, unknown>>; readonly issues: readonly Issue[] };

const number = /^-?\d{1,15}(\.\d{1,15})?$/;
/** A whole number of any size, limited to the largest safe integer. */
const large = /^\d{16,}$/;

const numberOf = (text: string): number | string => {
  if (number.test(text)) return Number(text);
  return large.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
};

const twice = (name: string): Issue => ({ in: 'query', pointer: `/${name}`, message: 'is given more than once' });

const nothing: CheckedQuery = { query: Object.freeze({}), issues: [] };

/** Converts the text of a parameter for its schema. A text that cannot be converted stays a text, which the check then refuses. */
const reader = (schema: TSchema): ((text: string) => unknown) => {
  const declared: unknown = schema['type'];
  const types: readonly unknown[] = Array.isArray(declared) ? declared : [declared];
  if (types.includes('integer') || types.includes('number')) return numberOf;
  if (types.includes('boolean')) return (text) => (text === 'true' ? true : text === 'false' ? false : text);
  return (text) => text;
};

/**
 * Reads the parameters that the schema names from the text after the `?` (undefined without one). Others are ignored. A parameter that occurs twice
 * is refused, because it is unclear which value was meant.
 */
export const compileQuery = (schema: TObject | undefined): ((text: string | undefined) => CheckedQuery) => {
  if (schema === undefined) return () => nothing;
  const readers = new Map(Object.entries(schema.properties).map(([name, member]) => [name, reader(member)]));
  const check = checkOf('query', schema);
  return (text) => {
    const query: Record<string, unknown> = {};
    const repeated = new Set<string>();
    if (text !== undefined) {
      for (const [name, value] of new URLSearchParams(text)) {
        const read = readers.get(name);
        if (read === undefined) continue;
        if (Object.hasOwn(query, name)) repeated.add(name);
        query[name] = read(value);
      }
    }
    return { query, issues: [...Array.from(repeated, twice), ...(check(query) ?? [])] };
  };
};
