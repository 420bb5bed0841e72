import { isObject, type Json, jsonBytes, type JsonObject } from './json.js';
import { cutJsonText } from './text.js';

/** Nothing is added once fewer bytes of JSON than this are left. */
const CRUMB_BYTES = 16;
/** The largest share of a container that one member may take, so that a large member leaves room for others. */
const SHARE = 4;

/** A value of at most `bytes` bytes of JSON (at least 16): unchanged if it fits, otherwise with its texts cut and its last parts left out. */
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
