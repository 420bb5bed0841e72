import type { Json, JsonObject } from './json.js';

/** A name as a part of a JSON Pointer (RFC 6901, section 3). */
export const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The beginning of a name as a part of a JSON Pointer. @param chars how much of it, in UTF-16 units */
export const shortPointerPart = (name: string, chars: number): string =>
  pointerPart(name.slice(0, chars).toWellFormed());

/** The value at a JSON Pointer (RFC 6901, section 4), by own members; undefined if there is none. */
export const valueAt = (value: Json | undefined, pointer: string): Json | undefined =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>(
      (holder, name) =>
        typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
          ? (holder as JsonObject)[name]
          : undefined,
      value,
    );
