import { jsonBytes } from './json-bytes.js';
import { isObject, type Json, type JsonObject } from './json.js';
import { cutJsonText } from './text.js';

/** Below so many bytes of JSON nothing more is taken in. */
const CRUMB_BYTES = 16;
/** The part of what it stands in that one member takes at most, so that one large member leaves room for others. */
const SHARE = 4;

/** A value of at most `bytes` bytes of JSON (at least 16): as it is when it fits, else with its texts cut and what comes last left out. */
export const shortened = (value: Json, bytes: number): Json => {
  if (jsonBytes(value) <= bytes) return value;
  if (typeof value === 'string') return cutJsonText(value, bytes - 2);
  let left = bytes - 2;
  const take = (member: Json, name = 0): Json | undefined => {
    const room = Math.min(left, Math.floor(bytes / SHARE)) - name - 1;
    if (room < CRUMB_BYTES) return undefined;
    const taken = shortened(member, room);
    left -= jsonBytes(taken) + name + 1;
    return taken;
  };
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((element) => take(element) ?? []);
  if (!isObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const taken = take(member, jsonBytes(name) + 1);
      return taken === undefined ? [] : [[name, taken]];
    }),
  );
};

/** As `shortened`, of an object. */
export const shortenedObject = (value: JsonObject, bytes: number): JsonObject => shortened(value, bytes) as JsonObject;
