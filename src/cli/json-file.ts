import { readFile } from 'node:fs/promises';

import { readJsonBytes } from '../domain/shared/read-json.js';
import { whyRefused } from '../domain/shared/refuse-json.js';
import { MAX_ARCHIVED_BYTES } from '../ports/soul-archive.js';
import { fileOf } from './soul-file.js';
import { CommandFailed, type Terminal } from './terminal.js';

/** What a server takes in one request at most (contract 1.2). */
const MAX_FILE_BYTES = MAX_ARCHIVED_BYTES;

/** What a file of JSON holds. @throws CommandFailed when it cannot be read, is none, or is larger than a request may be */
export const readJsonFile = async (terminal: Terminal, file: string): Promise<unknown> => {
  const bytes = await readFile(fileOf(terminal, file)).catch((error: unknown) => {
    throw new CommandFailed(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  });
  if (bytes.length > MAX_FILE_BYTES) throw new CommandFailed(`${file} is larger than 16 MiB.`);
  try {
    return readJsonBytes(bytes).value;
  } catch (error) {
    throw new CommandFailed(`${file} is not JSON that a server takes: ${whyRefused(error)}`);
  }
};
