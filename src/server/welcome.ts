import { join, resolve } from 'node:path';

import { type Config, DEFAULT_DATA_DIR, DEFAULT_URL } from '../config/config.js';
import type { OwnerKey } from '../features/keys/first-start.js';

/** A path or address as one word for a shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A command of another terminal, with what it needs to find this server. */
const commandLine = (command: string, url: string, dataDir: string, cwd: string): string =>
  [
    ...(url === DEFAULT_URL ? [] : [`ANIMA_URL=${shellWord(url)}`]),
    ...(dataDir === resolve(cwd, DEFAULT_DATA_DIR) ? [] : [`ANIMA_DATA_DIR=${shellWord(dataDir)}`]),
    command,
  ].join(' ');

/** The message of a first start about the owner key that it created, shown only on a terminal. */
const ownerKeyLines = ({ key, path }: OwnerKey): string =>
  `The owner key of this server (it is shown only once): ${key}\n` +
  (path === null ? '' : `It is also in ${path}, which only you can read.\n`);

/**
 * The first screen of a server at a terminal. Its commands work in any other terminal, wherever the server listens and keeps its data.
 * @param cwd what the default data directory is below
 */
export const welcome = (
  { dataDir }: Pick<Config, 'dataDir'>,
  { url, ownerKey }: { readonly url: string; readonly ownerKey: OwnerKey | null },
  cwd: string,
): string => `
Anima listens on ${url}; its data is in ${dataDir}.
${ownerKey === null ? '' : ownerKeyLines(ownerKey)}
Talk to an NPC in another terminal:  ${commandLine('npx anima talk mira', url, dataDir, cwd)}

Or be its body, and open a turn (copy this into another terminal):

  curl -s ${url}/npcs/mira/process -H "Authorization: Bearer $(cat ${shellWord(join(dataDir, 'owner-key'))})" \\
    -H 'Content-Type: application/json' -d '{"tape": {"observation": "A stranger enters the inn and asks for a room."}}'

See three NPCs play a scene:  ${commandLine('npm run demo', url, dataDir, cwd)}
Read the interface:           ${url}/docs

Each turn that ends is shown below. Stop with Ctrl+C.

`;
