import type { Document, Schema } from '../support/openapi.js';

/** The names of the members of each response, and of each schema that responses refer to. */
export type MemberNames = Readonly<Record<string, readonly string[]>>;

const REFERENCE = /^#\/components\/(schemas|responses)\//;
const nameOf = (reference: string): string => reference.replace(REFERENCE, '');

/** Schemas whose members are those of the schema that contains them. */
const joinedSchemas = (schema: Schema): readonly Schema[] =>
  ['anyOf', 'oneOf', 'allOf'].flatMap((name) => (schema[name] as readonly Schema[] | undefined) ?? []);

/** The paths of the members below a schema: `a.b`, `list[].c`. A path that ends with `#Name` continues in that schema. */
function* memberPaths(schema: Schema, at = ''): Generator<string, void, undefined> {
  if (schema.$ref !== undefined) {
    yield `${at}#${nameOf(schema.$ref)}`;
    return;
  }
  const { properties = {}, items } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
  };
  for (const [name, member] of Object.entries(properties)) {
    const path = at === '' ? name : `${at}.${name}`;
    yield path;
    yield* memberPaths(member, path);
  }
  if (items !== undefined) yield* memberPaths(items, `${at}[]`);
  for (const joined of joinedSchemas(schema)) yield* memberPaths(joined, at);
}

const sorted = (paths: Iterable<string>): readonly string[] => [...new Set(paths)].toSorted();

/** The members of every response of a document. */
export const memberNames = ({ paths, components }: Document): MemberNames => {
  const found = new Map<string, readonly string[]>();
  const open = new Set<string>();
  const note = (place: string, schemas: readonly Schema[]): void => {
    const members = sorted(schemas.flatMap((schema) => [...memberPaths(schema)]));
    found.set(place, members);
    for (const path of members) if (path.includes('#')) open.add(path.replace(/^.*#/, ''));
  };
  const schemasIn = (content: object = {}): readonly Schema[] =>
    Object.values(content).flatMap(({ schema }: { readonly schema?: Schema }) =>
      schema === undefined ? [] : [schema],
    );
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { responses }] of Object.entries(methods))
      for (const [status, { $ref, content }] of Object.entries(responses))
        if ($ref === undefined) note(`${method.toUpperCase()} ${path} ${status}`, schemasIn(content));
  for (const [name, { content }] of Object.entries(components.responses)) note(name, schemasIn(content));
  for (const name of open) note(`#${name}`, [components.schemas[name] ?? {}]);
  return Object.fromEntries(
    [...found].filter(([, members]) => members.length > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
};

/** The names of `before` that `now` no longer has. */
export const goneNames = (before: MemberNames, now: MemberNames): readonly string[] =>
  Object.entries(before).flatMap(([place, members]) => {
    const left = new Set(now[place]);
    return members.filter((member) => !left.has(member)).map((member) => `${place}: ${member}`);
  });

/** All names of both. */
export const joinedNames = (before: MemberNames, now: MemberNames): MemberNames =>
  Object.fromEntries(
    sorted([...Object.keys(before), ...Object.keys(now)]).map((place) => [
      place,
      sorted([...(before[place] ?? []), ...(now[place] ?? [])]),
    ]),
  );
