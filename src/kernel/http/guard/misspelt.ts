import type { TSchema } from '@sinclair/typebox';

import { isObject } from '../../base/json.js';
import { areAlike, type Bare, bareOf, LONGEST_NAME } from '../../base/alike.js';

/**
 * How many objects and unknown members of one body are examined, and how many pairs of names are compared: a few milliseconds of work. The rest is
 * not examined.
 */
const LOOKED_AT = 5_000;
const COMPARED = 5_000;

type SchemaNode = {
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly allOf?: readonly { readonly if?: SchemaNode; readonly then?: SchemaNode }[];
};

/** The checked part of a body, and the known names. */
class Looking {
  #left = LOOKED_AT;
  #pairs = COMPARED;
  #bare: Map<string, Bare> | null = null;
  #meant: Map<readonly KnownName[], Map<string, readonly string[]>> | null = null;
  /** Every name that occurs anywhere in the schema of the body; such a name is never a misspelling. */
  readonly #elsewhere: ReadonlySet<string>;

  constructor(elsewhere: ReadonlySet<string>) {
    this.#elsewhere = elsewhere;
  }

  /** @returns false if nothing more is examined */
  spend(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  /** The known names that resemble an unknown member of an object. */
  meant(known: readonly KnownName[], written: string): readonly string[] {
    if (!this.spend() || written.length > LONGEST_NAME || this.#elsewhere.has(written)) return [];
    this.#meant ??= new Map();
    const before = this.#meant.get(known) ?? new Map<string, readonly string[]>();
    this.#meant.set(known, before);
    let found = before.get(written);
    if (found === undefined) {
      this.#pairs -= known.length;
      found = this.#pairs < 0 ? [] : known.filter(({ bare }) => areAlike(this.#bareOf(written), bare)).map(nameOf);
      before.set(written, found);
    }
    return found;
  }

  #bareOf(name: string): Bare {
    this.#bare ??= new Map();
    const bare = this.#bare.get(name) ?? bareOf(name);
    this.#bare.set(name, bare);
    return bare;
  }
}

type KnownName = { readonly name: string; readonly bare: Bare };
const nameOf = ({ name }: KnownName): string => name;

/** Finds the intended names of the unknown members of a value, below a pointer. */
type Look = (value: unknown, pointer: string, looking: Looking) => readonly string[];

const inObject = (properties: Readonly<Record<string, SchemaNode>>): Look => {
  const known = Object.keys(properties).map((name) => ({ name, bare: bareOf(name) }));
  const inside = known.flatMap(({ name }) => {
    const look = inNode(properties[name] ?? {});
    return look === null ? [] : [{ name, look }];
  });
  return (value, pointer, looking) => {
    if (!isObject(value) || !looking.spend()) return [];
    // Nearly every body has only members that the schema names, so this case must be cheap.
    const found: string[] = [];
    for (const written in value) {
      if (looking.isOver) break;
      if (Object.hasOwn(properties, written)) continue;
      for (const name of looking.meant(known, written)) if (value[name] === undefined) found.push(`${pointer}/${name}`);
    }
    for (const { name, look } of inside) {
      if (value[name] !== undefined) found.push(...look(value[name], `${pointer}/${name}`, looking));
    }
    return found;
  };
};

/** An object that has further members if some members have certain values. */
const inVariants = ({ properties = {}, allOf = [] }: SchemaNode): Look => {
  const plain = inObject(properties);
  const variants = allOf.map(({ if: condition, then }) => ({
    wanted: Object.entries(condition?.properties ?? {}),
    look: inObject({ ...properties, ...then?.properties }),
  }));
  return (value, pointer, looking) => {
    if (!isObject(value)) return [];
    const met = variants.find(({ wanted }) => wanted.every(([name, node]) => value[name] === node.const));
    return (met?.look ?? plain)(value, pointer, looking);
  };
};

/**
 * Null if the schema has no names. Only one alternative may be an object or an array; with several it is unclear which one the value is meant to be.
 */
const inNode = ({ items, anyOf = [], ...node }: SchemaNode): Look | null => {
  if (node.properties !== undefined) return node.allOf === undefined ? inObject(node.properties) : inVariants(node);
  if (items !== undefined) {
    const look = inNode(items);
    if (look === null) return null;
    return (value, pointer, looking) =>
      Array.isArray(value)
        ? value.slice(0, LOOKED_AT).flatMap((item) => (looking.isOver ? [] : look(item, `${pointer}/-`, looking)))
        : [];
  }
  const looks = anyOf.map(inNode).filter((look) => look !== null);
  return looks.length === 1 ? (looks[0] ?? null) : null;
};

/** Every name of a member that a schema has, at any depth. */
const namesIn = ({ properties = {}, items, anyOf = [], allOf = [] }: SchemaNode): readonly string[] => [
  ...Object.entries(properties).flatMap(([name, node]) => [name, ...namesIn(node)]),
  ...[items, ...anyOf, ...allOf.map(({ then }) => then)].flatMap((node) => (node === undefined ? [] : namesIn(node))),
];

/**
 * Finds the members that a body may have meant: absent members of the schema whose names resemble those of unknown ones. Of a body with very many
 * objects or different names, only the first are examined.
 * @returns JSON Pointers (RFC 6901), made of names of the schema alone, `-` for any item of a list
 */
export const compileMisspelt = (schema: TSchema): ((body: unknown) => readonly string[]) => {
  const look = inNode(schema as SchemaNode);
  const names = new Set(namesIn(schema as SchemaNode));
  return (body) => {
    const found = look?.(body, '', new Looking(names)) ?? [];
    return found.length === 0 ? found : [...new Set(found)];
  };
};
