import { isObject, type Json, type JsonObject } from '../../shared/json.js';
import { cutBytes, wellFormed } from '../../shared/text.js';
import type { MemoryDraft } from '../events.js';
import { findObject } from './find-object.js';

/** What a model said, read leniently. `undefined`: it said nothing of the kind. */
export type ModelSaid = {
  readonly dialogue: string;
  readonly action: Json | undefined;
  /** As it was written: any JSON value; also not yet safe to record. */
  readonly stateChange: Json | undefined;
  readonly memories: readonly MemoryDraft[];
  /** Whether there was an object; else all of the text is dialogue. */
  readonly structured: boolean;
};

/** A memory's text, in bytes of UTF-8 (contract 3.6). */
export const MEMORY_BYTES = 8_192;
/** How many memories one turn stores. */
const MEMORIES = 16;
export const DEFAULT_MEMORY_TYPE = 'observation';
export const DEFAULT_IMPORTANCE = 0.5;
/** Deeper than any request may be (contract 1.2); what lies below is cut. */
const DEPTH = 32;

/**
 * A value that can be recorded and sent again: texts are well formed, numbers finite (others become null), `__proto__` is left out,
 * and nothing is nested deeper than a request may be.
 */
export const recordable = (value: Json, depth = DEPTH): Json => {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) {
    return depth === 0 ? null : (value as readonly Json[]).map((element) => recordable(element, depth - 1));
  }
  if (!isObject(value)) return value;
  if (depth === 0) return null;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== '__proto__')
      .map(([name, member]) => [wellFormed(name), recordable(member, depth - 1)]),
  );
};

const member = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;

const spoken = (value: Json | undefined): string => {
  if (typeof value === 'string') return wellFormed(value).trim();
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  return Array.isArray(value)
    ? (value as readonly Json[])
        .filter((line) => typeof line === 'string')
        .map(wellFormed)
        .join('\n')
        .trim()
    : '';
};

const between = (value: Json | undefined): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : DEFAULT_IMPORTANCE;

/** A memory as text alone or as an object; none when it has no text. */
const memory = (value: Json): readonly MemoryDraft[] => {
  const body: JsonObject = typeof value === 'string' ? { text: value } : isObject(value) ? value : {};
  const text = member(body, 'text') ?? member(body, 'content');
  if (typeof text !== 'string' || text.trim() === '') return [];
  const type = member(body, 'type');
  return [
    {
      text: cutBytes(wellFormed(text), MEMORY_BYTES),
      type: typeof type === 'string' && type.trim() !== '' ? wellFormed(type) : DEFAULT_MEMORY_TYPE,
      importance: between(member(body, 'importance')),
    },
  ];
};

const memories = (value: Json | undefined): readonly MemoryDraft[] => {
  const all = Array.isArray(value) ? (value as readonly Json[]) : value === undefined ? [] : [value];
  return all.flatMap(memory).slice(0, MEMORIES);
};

/** Reads the text of a model (contract 2.8): an object anywhere in it, else all of it is dialogue. Never throws. */
export const readModelText = (text: string): ModelSaid => {
  const object = findObject(text);
  if (object === null) {
    return {
      dialogue: wellFormed(text).trim(),
      action: undefined,
      stateChange: undefined,
      memories: [],
      structured: false,
    };
  }
  const action = member(object, 'action');
  return {
    dialogue: spoken(member(object, 'dialogue')),
    action: action === undefined || action === '' ? undefined : recordable(action),
    stateChange: member(object, 'stateDelta') ?? member(object, 'stateTransform'),
    memories: memories(member(object, 'memoryStore') ?? member(object, 'memories')),
    structured: true,
  };
};
