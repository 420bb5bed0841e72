import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

import { readJsonBytes } from '../../kernel/base/read-json.js';
import { whyRefused } from '../../kernel/base/refuse-json.js';
import { MAX_ARCHIVED_BYTES } from '../../ports/soul-archive.js';
import { CommandFailed, type Terminal } from './terminal.js';

/** The largest request body that a server accepts. */
const MAX_FILE_BYTES = MAX_ARCHIVED_BYTES;

const whyNot = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error';

/** The path of a file named on the command line. */
export const fileOf = ({ cwd }: Terminal, file: string): string => resolve(cwd, file);

/** Reads a file named on the command line. @throws CommandFailed when it cannot be read */
export const readTyped = (terminal: Terminal, file: string): Promise<Buffer> =>
  readFile(fileOf(terminal, file)).catch((error: unknown) => {
    const why = whyNot(error);
    throw new CommandFailed(why === 'ENOENT' ? `${file} does not exist.` : `${file} cannot be read (${why}).`);
  });

/** Writes a file named on the command line; with `a` appends to it, with `wx` only makes a new one. @throws CommandFailed when it cannot be written */
export const writeTyped = (
  terminal: Terminal,
  file: string,
  content: string | Uint8Array,
  flag: 'w' | 'a' | 'wx' = 'w',
): Promise<void> =>
  writeFile(fileOf(terminal, file), content, { flag }).catch((error: unknown) => {
    throw new CommandFailed(`${file} cannot be written (${whyNot(error)}).`);
  });

const readParsed = async (
  terminal: Terminal,
  file: string,
  form: string,
  parse: (bytes: Buffer) => unknown,
): Promise<unknown> => {
  const bytes = await readTyped(terminal, file);
  if (bytes.length > MAX_FILE_BYTES)
    throw new CommandFailed(`${file} is larger than 16 MiB, the limit for one request.`);
  try {
    return parse(bytes);
  } catch (error) {
    throw new CommandFailed(`${file} is not valid ${form}. ${whyRefused(error)}`);
  }
};

/** Reads a JSON file. @throws CommandFailed when it cannot be read or parsed, or is larger than a request may be */
export const readJsonFile = (terminal: Terminal, file: string): Promise<unknown> =>
  readParsed(terminal, file, 'JSON', (bytes) => readJsonBytes(bytes).value);

/** Whether the name of a file says that it is YAML. */
export const isYamlName = (file: string): boolean => /\.ya?ml$/i.test(file);

/** Reads a file in YAML if its name says so, otherwise in JSON. @throws CommandFailed as `readJsonFile` */
export const readJsonOrYaml = async (terminal: Terminal, file: string): Promise<unknown> => {
  if (!isYamlName(file)) return readJsonFile(terminal, file);
  // Most commands read no YAML.
  const { readYaml } = await import('./yaml-text.js');
  return readParsed(terminal, file, 'YAML', (bytes) => readYaml(bytes.toString('utf8')));
};
