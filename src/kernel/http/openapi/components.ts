import type { TSchema } from '@sinclair/typebox';

import { withNullMembers } from '../guard/null-members.js';
import { documentedOf, nameOf } from '../named.js';

export type Doc = Record<string, unknown>;
type Side = 'request' | 'response';

const reference = (name: string): Doc => ({ $ref: `#/components/schemas/${name}` });

const NULL: Doc = { type: 'null' };
const allowsNull = ({ type }: Doc): boolean => Array.isArray(type) && type.includes('null');

/** A schema, or `null`. Nested alternatives are flattened, each once. */
const anyOf = (schemas: readonly Doc[], rest: Doc = {}): Doc => {
  const flat = schemas.flatMap((schema) =>
    Array.isArray(schema['anyOf']) && Object.keys(schema).length === 1 ? (schema['anyOf'] as Doc[]) : [schema],
  );
  const unique = new Map(flat.map((schema) => [JSON.stringify(schema), schema]));
  return { ...rest, anyOf: [...unique.values()] };
};

/**
 * The named schemas of a document. Requests may send `null` for an optional member and responses never do, so a shape that both use may need two
 * schemas; the schema for requests is then named `…Input`. Responses are written first.
 */
export class Components {
  readonly #schemas = new Map<string, { readonly of: TSchema; readonly doc: Doc }>();

  /** A schema of a response, by reference if it has a name. */
  response(schema: TSchema): Doc {
    return this.#write(schema, 'response');
  }

  /** A schema of a request, by reference if it has a name. */
  request(schema: TSchema): Doc {
    return this.#write(withNullMembers(schema), 'request');
  }

  /** All schemas, in the order of their names. */
  get schemas(): Doc {
    const sorted = [...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, { doc }]) => [name, doc]));
  }

  #write(node: Doc, side: Side): Doc {
    const found = nameOf(node);
    if (found !== undefined) return this.#refer(node, found, side);
    return this.#plain(node, side);
  }

  #plain(node: Doc, side: Side): Doc {
    const documented = documentedOf(node);
    if (documented !== undefined) {
      const written = side === 'request' ? this.request(documented) : this.response(documented);
      return allowsNull(node) ? anyOf([written, NULL]) : written;
    }
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, this.#value(value, side)]));
    const { anyOf: alternatives, ...rest } = copy;
    return Array.isArray(alternatives) ? anyOf(alternatives as Doc[], rest) : copy;
  }

  #value(value: unknown, side: Side): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#value(item, side));
    return typeof value === 'object' && value !== null ? this.#write(value as Doc, side) : value;
  }

  #refer(node: Doc, { name: given, schema }: { readonly name: string; readonly schema: TSchema }, side: Side): Doc {
    const own = side === 'request' ? withNullMembers(schema) : schema;
    const isOpened = own !== schema && JSON.stringify(own) !== JSON.stringify(schema);
    const isShared = isOpened && this.#schemas.has(given) && !this.#isRequestOnly.has(given);
    if (isOpened && !isShared) this.#isRequestOnly.add(given);
    const name = isShared ? `${given}Input` : given;
    this.#define(name, schema, () => this.#plain(own, side));
    const { description } = node;
    const isDescribed = description !== undefined && description !== schema['description'];
    const refers = isDescribed ? { ...reference(name), description } : reference(name);
    return allowsNull(node) && !allowsNull(schema) ? anyOf([refers, NULL]) : refers;
  }

  readonly #isRequestOnly = new Set<string>();

  /** @throws Error if another schema has this name */
  #define(name: string, of: TSchema, write: () => Doc): void {
    const before = this.#schemas.get(name);
    if (before?.of === of) return;
    const doc = write();
    if (before !== undefined && JSON.stringify(before.doc) !== JSON.stringify(doc))
      throw new Error(`two schemas are named ${name}`);
    this.#schemas.set(name, { of, doc });
  }
}
