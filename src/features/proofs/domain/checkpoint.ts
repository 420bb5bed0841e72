import { isKeyName, type Note, readNote } from './note.js';

/** The contents of a checkpoint of a log (C2SP tlog-checkpoint): its name, the number of leaves, their root, and the time by the server's clock. */
export type Checkpoint = {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** RFC 3339, in UTC and with milliseconds. */
  readonly at: string;
};

const ROOT_BYTES = 32;
const TIME = /^time (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/** The text that is signed. */
export const checkpointText = ({ origin, size, root, at }: Checkpoint): string =>
  `${origin}\n${String(size)}\n${Buffer.from(root).toString('base64')}\ntime ${at}\n`;

const sizeIn = (line: string): number | null => {
  const size = /^(0|[1-9]\d{0,15})$/.test(line) ? Number(line) : NaN;
  return Number.isSafeInteger(size) ? size : null;
};

/** Reads the text of a checkpoint in this format; null for any other. */
export const readCheckpointText = (text: string): Checkpoint | null => {
  const [origin = '', sizeLine = '', rootLine = '', timeLine = '', end, ...more] = text.split('\n');
  const size = sizeIn(sizeLine);
  const root = Buffer.from(rootLine, 'base64');
  const at = TIME.exec(timeLine)?.[1];
  if (!isKeyName(origin) || size === null || at === undefined || end !== '' || more.length > 0) return null;
  if (root.length !== ROOT_BYTES || root.toString('base64') !== rootLine) return null;
  return { origin, size, root, at };
};

/** Parses a note that holds a checkpoint, without checking anything. Null for any other text. */
export const readCheckpoint = (note: string): { readonly note: Note; readonly checkpoint: Checkpoint } | null => {
  const read = readNote(note);
  const checkpoint = read && readCheckpointText(read.text);
  return read && checkpoint && { note: read, checkpoint };
};
