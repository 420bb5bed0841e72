import { type Checkpoint, readCheckpoint } from '../domain/checkpoint.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import type { openClient } from '../../../cli/shared/client.js';
import { readTyped } from '../../../cli/shared/files.js';
import { CommandFailed, type Terminal } from '../../../cli/shared/terminal.js';

/** A checkpoint that somebody kept, with its note. */
export type Kept = { readonly note: string; readonly checkpoint: Checkpoint };
/** The last checkpoint of each log in a file, by the name of the log, and the last one of all. */
export type KeptNotes = { readonly byOrigin: ReadonlyMap<string, Kept>; readonly last: Kept };

const keptIn = (note: string): Kept | null => {
  const read = readCheckpoint(note);
  return read && { note, checkpoint: read.checkpoint };
};

/** The note in a line of JSON `{"note"}`; null for any other line. */
const keptInLine = (line: string): Kept | null => {
  try {
    const value = JSON.parse(line) as Json;
    return isObject(value) && typeof value['note'] === 'string' ? keptIn(value['note']) : null;
  } catch {
    return null;
  }
};

/** The checkpoints in a text: one note, or lines of JSON, among which other lines are skipped. Null if there are none. */
export const readKept = (text: string): KeptNotes | null => {
  const byOrigin = new Map<string, Kept>();
  const single = keptIn(text);
  let last = single;
  for (const line of single === null ? text.split('\n') : []) {
    const kept = keptInLine(line);
    if (kept === null) continue;
    byOrigin.set(kept.checkpoint.origin, kept);
    last = kept;
  }
  return last && { byOrigin, last };
};

/**
 * Reads earlier checkpoints: a note in a file, or the file that ANIMA_CHECKPOINT_URL names, which may hold those of several logs.
 * @throws CommandFailed when the file holds none, so that the bundle is not reported as broken
 */
export const keptNotes = async (terminal: Terminal, file: string): Promise<KeptNotes> => {
  const kept = readKept(new TextDecoder().decode(await readTyped(terminal, file)));
  if (kept === null)
    throw new CommandFailed(
      `${file} is not a checkpoint. Pass a file that "npx anima checkpoint --out" wrote, or the file of ANIMA_CHECKPOINT_URL.`,
    );
  return kept;
};

/** The last checkpoint of a log. If there is none, that of another log, which then does not fit. */
export const keptOf = ({ byOrigin, last }: KeptNotes, origin: string): Kept => byOrigin.get(origin) ?? last;

/** The last checkpoint of the log of a server. @throws what the request throws, unless the log has no checkpoint yet */
export const keptOfServer = async (
  request: Awaited<ReturnType<typeof openClient>>,
  notes: KeptNotes,
): Promise<Kept> => {
  if (notes.byOrigin.size < 2) return notes.last;
  try {
    const { note } = (await request('GET', '/audit/checkpoints/latest')) as { readonly note: string };
    return keptOf(notes, readCheckpoint(note)?.checkpoint.origin ?? '');
  } catch (error) {
    if (error instanceof CommandFailed && error.code === 'CHECKPOINT_NOT_FOUND') return notes.last;
    throw error;
  }
};
