import { isUtf8 } from 'node:buffer';

/** A run of at least this many equal characters is written as a count. */
const RUN = 64;
const run = String.raw`([ -\[\]-~])\1{${String(RUN - 1)},}`;
/** Characters that a reader cannot see, or not tell apart. */
const inText = new RegExp(`${run}|[\\\\\\r\\n]|(?! )[\\p{C}\\p{Z}]`, 'gu');
const inBytes = new RegExp(`${run}|[^ -\\[\\]-~]`, 'gu');

const escapeOf = (found: string, repeated: string | undefined, encoding: 'utf8' | 'latin1'): string => {
  if (repeated !== undefined) return `\\{${String(found.length)} ${repeated}}`;
  if (found === '\\') return '\\\\';
  if (found === '\r') return '\\r';
  if (found === '\n') return '\\n';
  return Array.from(Buffer.from(found, encoding), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
};

/**
 * Shows bytes as lines of text, split at their own line ends. `\r` and `\n` are line ends, `\\` is a backslash, `\xNN` a byte that would not be visible,
 * `\{1000 x}` a thousand times the same character; bytes that are not UTF-8 are shown as `\xNN` if they are not ASCII. Different bytes never look
 * the same, because `bytesOf` reads them back.
 */
export const linesOf = (bytes: Buffer): readonly string[] => {
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
  const hidden = encoding === 'utf8' ? inText : inBytes;
  return bytes
    .toString(encoding)
    .split(/(?<=\n)/)
    .map((line) =>
      line
        .replace(hidden, (found: string, repeated: string | undefined) => escapeOf(found, repeated, encoding))
        // Editors drop a space at the end of a line.
        .replace(/ $/, '\\x20'),
    );
};

const ESCAPE = /(\\(?:[rn\\]|x[0-9a-f]{2}|\{\d+ .\}))/;

const bytesOfEscape = (escape: string): Buffer => {
  const [, count, repeated = ''] = /^\\\{(\d+) (.)\}$/.exec(escape) ?? [];
  if (count !== undefined) return Buffer.alloc(Number(count), repeated);
  if (escape.startsWith('\\x')) return Buffer.from(escape.slice(2), 'hex');
  return Buffer.from(escape === '\\r' ? '\r' : escape === '\\n' ? '\n' : '\\');
};

/** The bytes that lines show. The breaks between the lines add nothing. */
export const bytesOf = (lines: readonly string[]): Buffer =>
  Buffer.concat(
    lines
      .join('')
      .split(ESCAPE)
      .map((part, at) => (at % 2 === 0 ? Buffer.from(part) : bytesOfEscape(part))),
  );
