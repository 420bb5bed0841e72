import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';

import { type History, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { format } from 'prettier';

const fixtures = new URL('../fixtures/', import.meta.url);
/** Longer histories are compressed, in characters. */
const LONG_CHARS = 200_000;

/** The files of recorded histories with this prefix. */
export const recordedHistories = (beginning: string): readonly string[] =>
  readdirSync(fixtures).filter((name) => name.startsWith(beginning) && /\.json(\.gz)?$/.test(name));

export const readHistory = (name: string): { readonly events: readonly Record<string, unknown>[] } => {
  const bytes = readFileSync(new URL(name, fixtures));
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as ReturnType<typeof readHistory>;
};

/**
 * With RECORD_HISTORIES set, makes a fixture of the replay tests from this run, without the names of its machine. An existing
 * fixture is kept: open workflows may have such a history.
 */
export const recordHistory = async (name: string, history: History): Promise<void> => {
  if (process.env['RECORD_HISTORIES'] === undefined) return;
  const text = historyToJSON(history)
    .replace(/"\d+@[^"]*"/g, '"recorded"')
    .replace(/("stackTrace": )"(?:[^"\\]|\\.)*"/g, '$1""');
  const isLong = text.length > LONG_CHARS;
  const file = new URL(`${name}.json${isLong ? '.gz' : ''}`, fixtures);
  const content = isLong
    ? gzipSync(JSON.stringify(JSON.parse(text)), { level: 9 })
    : await format(text, { parser: 'json', printWidth: 120 });
  await writeFile(file, content, { flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
};
