import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { statuses } from '../../src/kernel/http/statuses.js';
import { bytesOf, linesOf } from './notation.js';
import { EXCHANGES, isRecorded, play } from './play.js';

const read = (name: string): Promise<string> => readFile(join(EXCHANGES, name), 'utf8');
const names = (await readdir(EXCHANGES)).filter((name) => name.endsWith('.http')).sort();

/** Statuses that are not refusals. */
const SUCCESSES = [100, 200, 201, 202, 204, 304];

describe('recorded exchanges', () => {
  it.each(names)('are answered with the same bytes as recorded: %s [1.3f]', async (name) => {
    const recorded = await read(name);
    expect(isRecorded(recorded)).toBe(true);
    expect(await play(recorded)).toBe(recorded);
  });

  it('include a response of every status', async () => {
    const texts = await Promise.all(names.map(read));
    const seen = texts.flatMap((text) =>
      Array.from(text.matchAll(/^<~? HTTP\/1\.1 (\d+)/gm), ([, status]) => Number(status)),
    );
    const wanted = new Set([...SUCCESSES, ...Object.values(statuses)]);
    expect([...new Set(seen)].sort()).toEqual([...wanted].sort());
  });
});

describe('playing an exchange', () => {
  const request = '> GET /livez HTTP/1.1\\r\\n\n> Host: anima.test\\r\\n\n> \\r\\n\n';

  it('fails when the server sends more than is read', async () => {
    await expect(play(request)).rejects.toThrow('Connection a had more to read:\nHTTP/1.1 200 OK\\r\\n');
  });

  it('fails when the server has closed the connection and nothing is left to read', async () => {
    await expect(play(`${request.replace('> \\r', '> Connection: close\\r\\n\n> \\r')}<\n\n<\n`)).rejects.toThrow(
      'nothing to read',
    );
  });

  it('refuses an unknown directive', async () => {
    await expect(play('@ sleep 3\n')).rejects.toThrow('No directive is called sleep.');
  });
});

describe('the notation of bytes', () => {
  it.each([
    ['lines', 'a\r\nb\n', ['a\\r\\n', 'b\\n']],
    ['text without an end of line', 'Zoë', ['Zoë']],
    ['backslashes', 'a\\r\\x41\\{3 x}', ['a\\\\r\\\\x41\\\\{3 x}']],
    ['what cannot be seen', '\u0000\t\u200b\ufeff', ['\\x00\\x09\\xe2\\x80\\x8b\\xef\\xbb\\xbf']],
    ['a space at the end of a line', 'a \nb ', ['a \\n', 'b\\x20']],
    ['long runs', `${'x'.repeat(64)}${'}'.repeat(1_000)}${'y'.repeat(63)}`, [`\\{64 x}\\{1000 }}${'y'.repeat(63)}`]],
    ['bytes that are not UTF-8', Buffer.from([0x89, 0x50, 0xc3, 0xab, 0xff]), ['\\x89P\\xc3\\xab\\xff']],
    ['nothing', '', ['']],
  ])('shows %s, and is read back', (_, content, lines) => {
    const bytes = Buffer.from(content);
    expect(linesOf(bytes)).toEqual(lines);
    expect(bytesOf(lines)).toEqual(bytes);
  });
});
