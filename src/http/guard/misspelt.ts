import type { TSchema } from '@sinclair/typebox';
import { distance } from 'fastest-levenshtein';

/** How many unknown members of one object and items of one list are looked at, and how long a name may be that is compared. */
const LOOKED_AT = 64;
const LONGEST_NAME = 64;
/** A name that is part of another one says little if it is shorter. */
const PART_CHARS = 5;
/** From so many characters on, a name may lack or double a letter, may have any slip, and may have two. */
const [ONE_LETTER_CHARS, ONE_SLIP_CHARS, TWO_SLIPS_CHARS] = [4, 5, 8];

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Two letters that changed places are two slips to `distance`. */
const SWAPPED = 2;
const letters = (name: string): string => [...name].sort().join('');
const isSwapped = (one: string, other: string): boolean =>
  one.length >= ONE_SLIP_CHARS && one.length === other.length && letters(one) === letters(other);

/** Whether somebody who wrote one name may have meant the other: other case or separators, a part of it, a slip or two. */
export const isAlike = (written: string, known: string): boolean => {
  if (written.length > LONGEST_NAME) return false;
  const [one, other] = [bare(written), bare(known)];
  const chars = Math.min(one.length, other.length);
  if (one === other) return chars > 0;
  if (chars >= PART_CHARS && (one.includes(other) || other.includes(one))) return true;
  const least = one.length === other.length ? ONE_SLIP_CHARS : ONE_LETTER_CHARS;
  const slips = chars >= TWO_SLIPS_CHARS ? 2 : chars >= least ? 1 : 0;
  return distance(one, other) <= (isSwapped(one, other) ? SWAPPED : slips);
};

type SchemaNode = {
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly { readonly if?: SchemaNode; readonly then?: SchemaNode }[];
};

/** Whether a value has the members of which a condition names the values. */
const meets = (value: Readonly<Record<string, unknown>>, condition: SchemaNode | undefined): boolean =>
  condition?.properties !== undefined &&
  Object.entries(condition.properties).every(([name, { const: wanted }]) => value[name] === wanted);

/** The schema of the one object or list that a value may be; undefined where it is free, or may be one of several. */
const shapeIn = (node: SchemaNode): SchemaNode | undefined => {
  if (node.properties !== undefined || node.items !== undefined) return node;
  const shapes = (node.anyOf ?? []).flatMap((one) => shapeIn(one) ?? []);
  return shapes.length === 1 ? shapes[0] : undefined;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const look = (node: SchemaNode, value: unknown, pointer: string): readonly string[] => {
  const shape = shapeIn(node);
  if (Array.isArray(value)) {
    const { items } = shape ?? {};
    if (items === undefined) return [];
    return value.slice(0, LOOKED_AT).flatMap((item) => look(items, item, `${pointer}/-`));
  }
  if (shape?.properties === undefined || !isRecord(value)) return [];
  const more = (shape.allOf ?? []).filter(({ if: condition }) => meets(value, condition));
  const properties = Object.assign({}, shape.properties, ...more.map(({ then }) => then?.properties)) as Readonly<
    Record<string, SchemaNode>
  >;
  const known = Object.keys(properties);
  const missing = known.filter((name) => value[name] === undefined);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  const meant = missing.filter((name) => unknown.slice(0, LOOKED_AT).some((written) => isAlike(written, name)));
  return [
    ...meant.map((name) => `${pointer}/${name}`),
    ...known.flatMap((name) => look(properties[name] ?? {}, value[name], `${pointer}/${name}`)),
  ];
};

/**
 * The members that a body may have meant: absent ones that the schema names, whose name an unknown one looks like (contract 1.2).
 * @returns JSON Pointers (RFC 6901), made of names of the schema alone, `-` for any item of a list
 */
export const misspelt = (schema: TSchema, body: unknown): readonly string[] => [
  ...new Set(look(schema as SchemaNode, body, '')),
];
