import { isObject, type Json, jsonBytes, type JsonObject } from '../../../../kernel/base/json.js';
import { cutBytes, cutText } from '../../../../kernel/base/text.js';
import type { MemoryDraft } from '../../../npcs/domain/events.js';
import { ACTION_BYTES, MEMORY_BYTES, MEMORY_STORE_BYTES } from '../../../npcs/domain/recorded-bytes.js';

/** A model's output, read leniently. `undefined` if the output has no such part. */
export type ModelOutput = {
  readonly dialogue: string;
  readonly action: Json | undefined;
  /** Why its action is too large, as a sentence; null if it is not. */
  readonly excess: string | null;
  /** Unchanged from the output: any JSON value, not yet safe to record. */
  readonly stateChange: Json | undefined;
  readonly memories: readonly MemoryDraft[];
  /** Whether there was an object; if not, the entire text is dialogue. */
  readonly structured: boolean;
};

/** How many memories one turn stores. */
const MEMORIES = 16;
/** The limit of a memory's type, in UTF-16 units: one word. */
const TYPE_CHARS = 64;
export const DEFAULT_MEMORY_TYPE = 'observation';
export const DEFAULT_IMPORTANCE = 0.5;
/** How deep an action may be nested, including itself: clients send verdicts back inside bodies that may be 32 levels deep. */
export const ACTION_DEPTH = 16;

/**
 * Why a value is too large for an action; null if it is not. Looks at no more than an action may hold, and counts at least one byte for each value.
 */
export const excessOfAction = (value: Json): string | null => {
  let left = ACTION_BYTES;
  const fits = (one: Json, depth: number): string | null => {
    left -= typeof one === 'string' ? one.length + 2 : 1;
    if (left < 0) return `The action is larger than ${ACTION_BYTES} bytes.`;
    if (typeof one !== 'object' || one === null) return null;
    if (depth > ACTION_DEPTH) return `The action is nested deeper than ${ACTION_DEPTH} levels.`;
    const names = isObject(one) ? Object.keys(one) : null;
    for (const name of names ?? []) left -= name.length + 3;
    const members = names === null ? (one as readonly Json[]) : names.map((name) => (one as JsonObject)[name] ?? null);
    for (const inner of members) {
      const excess = fits(inner, depth + 1);
      if (excess !== null) return excess;
    }
    return null;
  };
  return fits(value, 1);
};

/** What of a string in an answer is kept; the result is well formed. */
export type CleanText = (text: string) => string;

/**
 * A value that can be recorded and sent again: strings are clean, numbers finite (others become null), `__proto__` is left out.
 * @param clean makes each string recordable; names of members are only made well formed
 */
export const recordable = (value: Json, clean: CleanText): Json => {
  if (typeof value === 'string') return clean(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => recordable(one, clean));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== '__proto__')
      .map(([name, one]) => [name.toWellFormed(), recordable(one, clean)]),
  );
};

export const answerMember = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;

/** What a member says, as text. */
export const spokenText = (value: Json | undefined, clean: CleanText): string => {
  if (typeof value === 'string') return clean(value).trim();
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  return Array.isArray(value)
    ? (value as readonly Json[])
        .filter((line) => typeof line === 'string')
        .map(clean)
        .join('\n')
        .trim()
    : '';
};

const between = (value: Json | undefined): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : DEFAULT_IMPORTANCE;

/** A memory as a string or as an object; none if it has no text. */
const memory = (value: Json, clean: CleanText): readonly MemoryDraft[] => {
  const body: JsonObject = typeof value === 'string' ? { text: value } : isObject(value) ? value : {};
  const written = answerMember(body, 'text') ?? answerMember(body, 'content');
  const text = typeof written === 'string' ? clean(written) : '';
  if (text.trim() === '') return [];
  const type = answerMember(body, 'type');
  return [
    {
      text: cutBytes(text, MEMORY_BYTES),
      type:
        typeof type === 'string' && clean(type).trim() !== '' ? cutText(clean(type), TYPE_CHARS) : DEFAULT_MEMORY_TYPE,
      importance: between(answerMember(body, 'importance')),
    },
  ];
};

/** The memories that an answer names. */
export const memoriesStored = (value: Json | undefined, clean: CleanText): readonly MemoryDraft[] => {
  const all = Array.isArray(value) ? (value as readonly Json[]) : value === undefined ? [] : [value];
  const taken: MemoryDraft[] = [];
  for (const one of all) {
    if (taken.length === MEMORIES) break;
    taken.push(...memory(one, clean));
  }
  let left = MEMORY_STORE_BYTES;
  return taken.filter((one) => {
    const fits = jsonBytes(one) < left;
    if (fits) left -= jsonBytes(one) + 1;
    return fits;
  });
};
