import type { TSchema } from '@sinclair/typebox';
import { distance } from 'fastest-levenshtein';

import { isObject } from '../../domain/shared/json.js';

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

/** What a value of one schema may have meant, below a pointer. */
type Look = (value: unknown, pointer: string) => readonly string[];

const inObject = (properties: Readonly<Record<string, SchemaNode>>): Look => {
  const known = Object.keys(properties);
  const inside = known.flatMap((name) => {
    const look = inNode(properties[name] ?? {});
    return look === null ? [] : [{ name, look }];
  });
  return (value, pointer) => {
    if (!isObject(value)) return [];
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
    const written = unknown.slice(0, LOOKED_AT);
    const meant = known.filter((name) => value[name] === undefined && written.some((one) => isAlike(one, name)));
    return [
      ...meant.map((name) => `${pointer}/${name}`),
      ...inside.flatMap(({ name, look }) => look(value[name], `${pointer}/${name}`)),
    ];
  };
};

/** An object that has more members when some have certain values. */
const inVariants = ({ properties = {}, allOf = [] }: SchemaNode): Look => {
  const plain = inObject(properties);
  const variants = allOf.map(({ if: condition, then }) => ({
    wanted: Object.entries(condition?.properties ?? {}),
    look: inObject({ ...properties, ...then?.properties }),
  }));
  return (value, pointer) => {
    if (!isObject(value)) return [];
    const met = variants.find(({ wanted }) => wanted.every(([name, node]) => value[name] === node.const));
    return (met?.look ?? plain)(value, pointer);
  };
};

/** Null where the schema names nothing. Of alternatives only one may be an object or a list; with several it is open which one a value is meant to be. */
const inNode = ({ items, anyOf = [], ...node }: SchemaNode): Look | null => {
  if (node.properties !== undefined) return node.allOf === undefined ? inObject(node.properties) : inVariants(node);
  if (items !== undefined) {
    const look = inNode(items);
    if (look === null) return null;
    return (value, pointer) =>
      Array.isArray(value) ? value.slice(0, LOOKED_AT).flatMap((item) => look(item, `${pointer}/-`)) : [];
  }
  const looks = anyOf.map(inNode).filter((look) => look !== null);
  return looks.length === 1 ? (looks[0] ?? null) : null;
};

/**
 * Finds the members that a body may have meant: absent ones that the schema names, whose name an unknown one looks like (contract 1.2).
 * @returns JSON Pointers (RFC 6901), made of names of the schema alone, `-` for any item of a list
 */
export const compileMisspelt = (schema: TSchema): ((body: unknown) => readonly string[]) => {
  const look = inNode(schema as SchemaNode);
  return (body) => (look === null ? [] : [...new Set(look(body, ''))]);
};
