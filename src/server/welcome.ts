import { join, resolve } from 'node:path';

import { type Config, DEFAULT_DATA_DIR, DEFAULT_URL } from '../config/config.js';
import type { OwnerKey } from '../features/keys/first-start.js';

/** Quotes a path or address for a shell. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A command for another terminal, with the variables that it needs to find this server. */
const commandLine = (command: string, url: string, dataDir: string, cwd: string): string =>
  [
    ...(url === DEFAULT_URL ? [] : [`ANIMA_URL=${shellWord(url)}`]),
    ...(dataDir === resolve(cwd, DEFAULT_DATA_DIR) ? [] : [`ANIMA_DATA_DIR=${shellWord(dataDir)}`]),
    command,
  ].join(' ');

/** The message of a first start about the owner key that it created, shown only on a terminal. */
const ownerKeyLines = ({ key, path }: OwnerKey): string =>
  `Owner key (shown only once): ${key}\n` + (path === null ? '' : `It is also in ${path}, which only you can read.\n`);

/**
 * What a server prints when it starts on a terminal. The commands work in any other terminal, wherever the server listens and keeps its data.
 * @param cwd the parent of the default data directory
 */
export const welcome = (
  { dataDir }: Pick<Config, 'dataDir'>,
  { url, ownerKey }: { readonly url: string; readonly ownerKey: OwnerKey | null },
  cwd: string,
): string => `
Anima is listening on ${url}. Its data is in ${dataDir}.
${ownerKey === null ? '' : ownerKeyLines(ownerKey)}
Talk to an NPC in another terminal:  ${commandLine('npx anima talk mira', url, dataDir, cwd)}

Or act as its body and open a turn (copy this into another terminal):

  curl -s ${url}/npcs/mira/process -H "Authorization: Bearer $(cat ${shellWord(join(dataDir, 'owner-key'))})" \\
    -H 'Content-Type: application/json' -d '{"tape": {"observation": "A stranger enters the inn and asks for a room."}}'

Watch three NPCs play a scene:       ${commandLine('npm run demo', url, dataDir, cwd)}
Browse the API reference:            ${url}/docs

Completed turns appear below. Stop the server with Ctrl+C.

`;
