import type { TSchema } from '@sinclair/typebox';
import { distance } from 'fastest-levenshtein';

/** How many unknown members of one object are looked at, and how long a name may be that is compared. */
const LOOKED_AT = 64;
const LONGEST_NAME = 64;
/** A name that is part of another one says little if it is shorter. */
const PART_CHARS = 5;
/** From so many characters on, a name may lack or double a letter, may have any slip, and may have two. */
const [ONE_LETTER_CHARS, ONE_SLIP_CHARS, TWO_SLIPS_CHARS] = [4, 5, 8];

const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Whether somebody who wrote one name may have meant the other: other case or separators, a part of it, a slip or two. */
export const isAlike = (written: string, known: string): boolean => {
  if (written.length > LONGEST_NAME) return false;
  const [one, other] = [bare(written), bare(known)];
  const chars = Math.min(one.length, other.length);
  if (one === other) return chars > 0;
  if (chars >= PART_CHARS && (one.includes(other) || other.includes(one))) return true;
  const least = one.length === other.length ? ONE_SLIP_CHARS : ONE_LETTER_CHARS;
  const slips = chars >= TWO_SLIPS_CHARS ? 2 : chars >= least ? 1 : 0;
  return distance(one, other) <= slips;
};

type SchemaNode = {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: unknown;
};

/** The one object that a value may be; undefined where it is free, or may be one of several. */
const objectIn = (node: SchemaNode): Required<Pick<SchemaNode, 'properties'>> | undefined => {
  if (node.allOf !== undefined) return undefined;
  if (node.properties !== undefined) return { properties: node.properties };
  const objects = (node.anyOf ?? []).flatMap((one) => objectIn(one) ?? []);
  return objects.length === 1 ? objects[0] : undefined;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const look = (node: SchemaNode, value: unknown, pointer: string): readonly string[] => {
  const properties = objectIn(node)?.properties;
  if (properties === undefined || !isRecord(value)) return [];
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
 * @returns JSON Pointers (RFC 6901), made of names of the schema alone
 */
export const misspelt = (schema: TSchema, body: unknown): readonly string[] => look(schema as SchemaNode, body, '');
