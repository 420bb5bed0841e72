import { isObject, jcs, type Json } from './json.js';

/** How many characters are written between two pauses; about a millisecond of work. */
const SLICE_CHARS = 262_144;

/**
 * The JCS form (RFC 8785) of a value whose length is in the lists of its members. It yields whenever the driver may pause: between members, and
 * between the items of their lists.
 * @throws Error as `jcs`
 */
export function* jcsSlices(value: Json): Generator<number, string, void> {
  if (!isObject(value)) return jcs(value);
  const members: string[] = [];
  let chars = 0;
  // As code units sort, which is what RFC 8785 asks for.
  for (const name of Object.keys(value).sort()) {
    const member = value[name] as Json;
    const items = Array.isArray(member) ? (member as readonly Json[]) : null;
    const written: string[] = [];
    for (const item of items ?? [member]) {
      const text = jcs(item);
      written.push(text);
      chars += text.length;
      if (chars < SLICE_CHARS) continue;
      yield chars;
      chars = 0;
    }
    members.push(`${JSON.stringify(name)}:${items === null ? (written[0] ?? '') : `[${written.join(',')}]`}`);
  }
  return `{${members.join(',')}}`;
}
