import type { JsonMembers, JsonValue, NpcAction } from '../../body/protocol.js';

const WIDTH = 100;

/** Wraps a text at 100 columns, each line after `indent`; line breaks in the text become spaces. */
export const wrapped = (text: string, indent: string, first = indent): string[] => {
  const lines: string[] = [];
  let line = first;
  let empty = true;
  for (const word of text.split(/\s+/)) {
    if (!empty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = indent;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  lines.push(line);
  return lines;
};

/** A text on one line, cut to `max` characters. */
export const short = (text: string, max = 80): string => {
  const flat = [...text.replace(/\s+/g, ' ').trim()];
  return flat.length <= max
    ? flat.join('')
    : `${flat
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`;
};

/** A JSON value for people: strings without quotes, lists in brackets, objects as `key: value`, nested ones in braces. */
export const plain = (value: JsonValue): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(inner).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return Object.entries(value as JsonMembers)
    .map(([key, member]) => `${key}: ${inner(member)}`)
    .join(', ');
};

const inner = (value: JsonValue): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? `{${plain(value)}}` : plain(value);

/** `1 memory`, `3 memories`. */
export const counted = (count: number, one: string, many: string): string =>
  `${String(count)} ${count === 1 ? one : many}`;

/** `GIVE silver locket -> traveller`. */
export const actionText = ({ type, target, payload }: NpcAction): string => {
  const at = target === undefined || target === '' ? '' : ` -> ${target}`;
  const what = payload === undefined || payload === null ? '' : ` (${short(plain(payload), 60)})`;
  return `${type}${at}${what}`;
};
