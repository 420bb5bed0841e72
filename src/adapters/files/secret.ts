import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { secretProblem } from '../../kernel/base/secret-length.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import type { Random } from '../../ports/random.js';
import { readLine, writePrivateLine } from './private-file.js';

/** The source of the server's secret: `ANIMA_SECRET`, else `ANIMA_SECRET_FILE`, else `<data dir>/secret`. */
export type SecretSource = {
  readonly secret: string | null;
  readonly secretFile: string | null;
  readonly dataDir: string;
  /** Creates `<data dir>/secret` if there is none: only in the embedded profile, and only while nothing stored depends on an earlier one. */
  readonly mayCreate: boolean;
};

export type OpenedSecret = {
  /** Only keys derived from it are used (features/keys/open-keys.ts). */
  readonly secret: Uint8Array;
  /** Problems that should be fixed but do not stop the start. */
  readonly warnings: readonly string[];
};

const GENERATED_BYTES = 32;
/** The permission bits of everyone except the owner. */
const OTHERS = 0o077;

const checked = (text: string, where: string): Uint8Array => {
  const problem = secretProblem(text, where);
  if (problem !== null) throw new StartProblem(problem);
  return new TextEncoder().encode(text);
};

const read = async (path: string): Promise<string | null> => {
  try {
    return await readLine(path);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new StartProblem(`The secret file ${path} cannot be read (${reason}).`, { cause });
  }
};

/** A file that others can read is not refused: an orchestrator chooses the mode of mounted secrets, and backups may be restored with another mode. */
const warningsAbout = async (path: string): Promise<readonly string[]> =>
  process.platform === 'win32' || ((await stat(path)).mode & OTHERS) === 0
    ? []
    : [`Other users of this machine can read the secret file ${path}. Run: chmod 600 ${path}`];

/**
 * Reads the server's secret, or creates it. Its text is the key material, in a file or in the variable, so it may be moved from one to the other.
 * @throws StartProblem if it is absent and may not be created, cannot be read or written, or is too short
 */
export const openSecret = async (source: SecretSource, random: Random): Promise<OpenedSecret> => {
  if (source.secret !== null) return { secret: checked(source.secret.trim(), 'ANIMA_SECRET'), warnings: [] };
  const path = source.secretFile ?? join(source.dataDir, 'secret');
  const text = await read(path);
  if (text !== null) {
    return { secret: checked(text, `The secret in ${path}`), warnings: await warningsAbout(path) };
  }
  if (source.secretFile !== null)
    throw new StartProblem(`ANIMA_SECRET_FILE names ${path}, but that file does not exist.`);
  if (!source.mayCreate) {
    throw new StartProblem(
      `The secret file ${path} is missing, but the stored data was created with it. Restore the file, or set ANIMA_SECRET to its content.`,
    );
  }
  const made = Buffer.from(random.bytes(GENERATED_BYTES)).toString('base64url');
  try {
    await writePrivateLine(path, made);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new StartProblem(`The secret cannot be written to ${path} (${reason}).`, { cause });
  }
  return { secret: checked(made, path), warnings: [] };
};
