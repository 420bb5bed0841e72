import type { Json, JsonObject } from '../../../kernel/base/json.js';

/** The data that conditions can read. Without an action the `action.` keys are missing. */
export type Surroundings = {
  readonly npcState: JsonObject;
  readonly context: Json;
  readonly action?: JsonObject | null;
  /** What the game has reported. Like the members below, only conditions of grammar 2 read it. */
  readonly facts?: JsonObject;
  /** The state change that the model asks for. */
  readonly delta?: JsonObject;
  /** The state with the accepted part of that change. */
  readonly after?: JsonObject;
  /** The observation as the prompt shows it. */
  readonly observation?: string;
};

/** One part of dotted keys, below another part. */
type KeyPart = { readonly parent: number; readonly name: string };

/** The keys of a ruleset as a tree of their parts, parents first, so common parts are looked up once. */
export type KeyTree = {
  readonly parts: readonly KeyPart[];
  /** The last part of each key. */
  readonly ends: ReadonlyMap<string, number>;
  /** The number of parts of the keys, without the roots. */
  readonly size: number;
};

/** What a key led to: its leaves, with arrays opened. */
export type Seen = {
  readonly values: readonly Json[];
  /** Whether the key led to an array or through one. */
  readonly listed: boolean;
};

/** How many elements of an array count, starting with the first. */
export const ARRAY_ELEMENTS = 1_000;

const INDEX = /^(?:0|[1-9]\d*)$/;
/** Whether a name also picks an element of an array. */
export const isIndex = (name: string): boolean => INDEX.test(name);
const ROOTS = ['npcState', 'context', 'action'] as const;
/** How many parts of a tree are roots. */
export const ROOT_PARTS = ROOTS.length;

/** How a key is read: its first part names another root only if something follows it. */
const pathOf = (key: string): { readonly root: number; readonly names: readonly string[] } => {
  const names = key.split('.');
  const root = names.length > 1 ? ROOTS.findIndex((name, index) => index > 0 && name === names[0]) : -1;
  return root === -1 ? { root: 0, names } : { root, names: names.slice(1) };
};

/** Joins keys into one tree. The first parts are the roots, which have no name. */
export const buildKeyTree = (keys: Iterable<string>): KeyTree => {
  const parts: KeyPart[] = ROOTS.map(() => ({ parent: -1, name: '' }));
  const known = new Map<string, number>();
  const ends = new Map<string, number>();
  for (const key of keys) {
    const { root, names } = pathOf(key);
    let at = root;
    for (const name of names) {
      const place = `${at}.${name}`;
      let next = known.get(place);
      if (next === undefined) {
        next = parts.push({ parent: at, name }) - 1;
        known.set(place, next);
      }
      at = next;
    }
    ends.set(key, at);
  }
  return { parts, ends, size: parts.length - ROOT_PARTS };
};

/** What one part of a key led to: values with their arrays closed, and opened. */
type Found = { readonly things: readonly Json[]; readonly leaves: readonly Json[]; readonly listed: boolean };
const nothing: Found = { things: [], leaves: [], listed: false };

/** The values looked at: in total, and how many more the current part may look at. */
type Meter = { work: number; left: number };

/** Opens arrays, and arrays in them, by their first elements, until the meter is used up. */
const openInto = (leaves: Json[], things: readonly Json[], most: number, meter: Meter): boolean => {
  let opened = false;
  for (let index = 0; index < things.length && index < most && meter.left > 0; index += 1) {
    const thing = things[index] as Json;
    meter.left -= 1;
    meter.work += 1;
    if (Array.isArray(thing)) {
      openInto(leaves, thing as readonly Json[], ARRAY_ELEMENTS, meter);
      opened = true;
    } else leaves.push(thing);
  }
  return opened;
};

const found = (things: readonly Json[], listed: boolean, limit: number, meter: Meter): Found => {
  const leaves: Json[] = [];
  meter.left = limit;
  return { things, leaves, listed: openInto(leaves, things, things.length, meter) || listed };
};

/** One part deeper: an own member, an element by its index, otherwise the members of the elements. */
const follow = (from: Found, name: string, limit: number, meter: Meter): Found => {
  if (from.things.length === 0) return nothing;
  const next: Json[] = [];
  // An index applies to arrays that are still closed.
  const holders = isIndex(name) ? from.things : from.leaves;
  meter.work += holders.length;
  for (const holder of holders) {
    if (typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)) {
      next.push((holder as JsonObject)[name] as Json);
    }
  }
  return found(next, from.listed, limit, meter);
};

/**
 * Looks up every key of a tree, each part once.
 * @param limit how many values each part may look at, including arrays inside arrays, so that nested arrays do not multiply
 * @returns what each key sees (no values: it is missing), and the work: how many values were looked at
 */
export const lookUp = (
  { parts, ends }: KeyTree,
  { npcState, context, action }: Surroundings,
  limit: number,
): { readonly seen: ReadonlyMap<string, Seen>; readonly work: number } => {
  const roots: readonly (Json | undefined)[] = [npcState, context, action ?? undefined];
  const meter: Meter = { work: 0, left: 0 };
  const reached: Found[] = [];
  for (const { parent, name } of parts) {
    const root = roots[reached.length];
    if (parent >= 0) reached.push(follow(reached[parent] ?? nothing, name, limit, meter));
    else reached.push(root === undefined ? nothing : found([root], false, limit, meter));
  }
  const seen = new Map<string, Seen>();
  for (const [key, end] of ends) {
    const { leaves, listed } = reached[end] ?? nothing;
    seen.set(key, { values: leaves, listed });
  }
  return { seen, work: meter.work };
};
