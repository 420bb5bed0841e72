import type { Action } from './action.js';
import { ITEM_MEMBERS } from '../actions/item-members.js';
import { ARRAY_ELEMENTS } from '../key-tree.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';

/** How many items one action may name. An action that names more is refused, so nothing is given away unseen. */
export const ACTION_ITEMS = 64;

/** Reads what the bridge needs from an action and its world. Every reader returns undefined for unknown values. */

const list = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) ? (value as readonly Json[]) : undefined;
const numberOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** A member of the action's payload, otherwise of the action itself. */
export const detail = (action: Action, name: string): Json | undefined =>
  member(action.payload, name) ?? (Object.hasOwn(action, name) ? action[name] : undefined);

const NAME_MEMBERS = ['id', 'npcId', 'itemId', 'item', 'name'];

/** The name of an object that a list contains as a string or as an object. */
const nameOf = (thing: Json): string | undefined => {
  if (typeof thing === 'string') return thing;
  const name = NAME_MEMBERS.map((key) => member(thing, key)).find((one) => typeof one === 'string');
  return typeof name === 'string' ? name : undefined;
};

const isThere = (quantity: Json | undefined): boolean => quantity !== false && quantity !== 0 && quantity !== null;

/** The names of the objects in a list. `listed`: one name of each. An object may be listed under an id and referred to by its name. */
export type Names = { readonly listed: readonly string[]; has(name: string): boolean };

/** A list of the world counts with its first ARRAY_ELEMENTS entries, like an array in a condition. */
export const firstEntries = (things: readonly Json[]): readonly Json[] => things.slice(0, ARRAY_ELEMENTS);

/**
 * The names in a list of objects (strings, or objects with an id or name), or in a map from name to object or quantity. It reads the entire list, so
 * call it once per check.
 */
export const namesIn = (things: Json | undefined): Names | undefined => {
  const listed = list(things);
  if (listed !== undefined) {
    const there = firstEntries(listed).filter((thing) => isThere(member(thing, 'quantity')));
    const names = there.flatMap((thing) => nameOf(thing) ?? []);
    const all = new Set<Json | undefined>([...names, ...there.map((thing) => member(thing, 'name'))]);
    return { listed: names, has: (name) => all.has(name) };
  }
  if (!isObject(things)) return undefined;
  const names = Object.keys(things)
    .slice(0, ARRAY_ELEMENTS)
    .filter((name) => isThere(things[name]) && isThere(member(things[name], 'quantity')));
  const all = new Set(names);
  return { listed: names, has: (name) => all.has(name) };
};

export type Point = { readonly x: number; readonly y: number };
export type Bounds = { readonly minX: number; readonly maxX: number; readonly minY: number; readonly maxY: number };

/** The destination of an action, if it gives one in numbers. */
export const pointOf = (action: Action): Point | undefined => {
  const place = detail(action, 'position');
  const x = numberOf(detail(action, 'x')) ?? numberOf(member(place, 'x'));
  const y = numberOf(detail(action, 'y')) ?? numberOf(member(place, 'y'));
  return x === undefined || y === undefined ? undefined : { x, y };
};

/**
 * The bounds of a world: `{minX, maxX, minY, maxY}`, `{min: {x, y}, max: {x, y}}`, `{x: [min, max], y: [min, max]}` or `{width, height}` from 0. A
 * side that is not named is open.
 */
export const boundsOf = (bounds: Json | undefined): Bounds | undefined => {
  if (!isObject(bounds)) return undefined;
  const side = (flat: string, corner: 'min' | 'max', axis: 'x' | 'y', size: string): number | undefined =>
    numberOf(member(bounds, flat)) ??
    numberOf(member(member(bounds, corner), axis)) ??
    numberOf(list(member(bounds, axis))?.[corner === 'min' ? 0 : 1]) ??
    (member(bounds, size) === undefined ? undefined : corner === 'min' ? 0 : numberOf(member(bounds, size)));
  return {
    minX: side('minX', 'min', 'x', 'width') ?? -Infinity,
    maxX: side('maxX', 'max', 'x', 'width') ?? Infinity,
    minY: side('minY', 'min', 'y', 'height') ?? -Infinity,
    maxY: side('maxY', 'max', 'y', 'height') ?? Infinity,
  };
};

export const contains = ({ minX, maxX, minY, maxY }: Bounds, { x, y }: Point): boolean =>
  x >= minX && x <= maxX && y >= minY && y <= maxY;

const SPEECH_MEMBERS = ['text', 'message', 'dialogue', 'content'];

/** The speech in an action, and the member that contains it; undefined if it has none. */
export const speechOf = (
  action: Action,
): { readonly in: 'payload' | 'member'; readonly name: string; readonly text: string } | undefined => {
  if (typeof action.payload === 'string') return { in: 'payload', name: '', text: action.payload };
  for (const name of SPEECH_MEMBERS) {
    const said = member(action.payload, name);
    if (typeof said === 'string') return { in: 'payload', name, text: said };
    const own = Object.hasOwn(action, name) ? action[name] : undefined;
    if (typeof own === 'string') return { in: 'member', name, text: own };
  }
  return undefined;
};

/** The action with its speech replaced. */
export const withSpeech = (action: Action, said: NonNullable<ReturnType<typeof speechOf>>, text: string): Action => {
  if (said.in === 'member') return { ...action, [said.name]: text };
  const payload: Json = isObject(action.payload) ? { ...action.payload, [said.name]: text } : text;
  return { ...action, payload };
};

/** The items that an action uses, gives or trades away; null if it names more than ACTION_ITEMS. */
export const itemsOf = (action: Action, state: { readonly entities: Json | undefined }): readonly string[] | null => {
  const things = ITEM_MEMBERS.map((name) => {
    const item = detail(action, name);
    if (item === undefined) return [];
    return nameOf(item) === undefined ? (list(item) ?? []) : [item];
  });
  if (things.reduce((count, some) => count + some.length, 0) > ACTION_ITEMS) return null;
  const named = things.flat().flatMap((thing) => nameOf(thing) ?? []);
  if (named.length > 0) return named;
  if (typeof action.payload === 'string') return [action.payload];
  // Without an item, the target is the item, unless it is an object of the world, such as a door.
  const { type, target = '' } = action;
  const uses = type === 'USE' || type === 'USE_ITEM';
  return uses && target !== '' && namesIn(state.entities)?.has(target) !== true ? [target] : [];
};

/** Every name of a thing that an action takes; none if it cannot be told what it is. */
const namesOf = (thing: Json): readonly string[] => {
  const names = typeof thing === 'string' ? [thing] : NAME_MEMBERS.map((name) => member(thing, name));
  return names.filter((name) => typeof name === 'string' && name.trim() !== '') as readonly string[];
};

/** The items that an action takes, under all their names. `isWhole`: whether each has a name. */
export type TakenItems = { readonly names: readonly string[]; readonly isWhole: boolean };

/**
 * What an action takes that is declared to take items: everything that it names, in its payload and beside it, so that no second item hides behind the
 * first. Null if there are more than ACTION_ITEMS.
 */
export const takenItems = (action: Action, { target: kind }: { readonly target?: string }): TakenItems | null => {
  const { payload, target = '' } = action;
  const things = ITEM_MEMBERS.flatMap((name) => [member(payload, name), member(action as JsonObject, name)])
    .concat(typeof payload === 'string' ? [payload] : [], kind === 'item' && target !== '' ? [target] : [])
    .filter((thing): thing is Json => (thing ?? null) !== null);
  const count = things.reduce<number>((all, thing) => all + (list(thing)?.length ?? 1), 0);
  if (count > ACTION_ITEMS) return null;
  const named = things.flatMap((thing) => list(thing) ?? [thing]).map(namesOf);
  return { names: named.flat(), isWhole: named.every((names) => names.length > 0) };
};

export const asObject = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);
export const numberIn = (value: Json | undefined, name: string): number | undefined => numberOf(member(value, name));
