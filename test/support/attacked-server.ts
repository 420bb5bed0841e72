import { cp } from 'node:fs/promises';
import { join } from 'node:path';

import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

import type { ServerUnderTest } from '../scenarios/server-under-test.js';
import { typed, type Typed } from '../cli/typed.js';
import { type Api, apiOf } from './api.js';
import { startBuilt } from './child.js';
import { temporaryDirectory } from './temporary-directory.js';

type Environment = Readonly<Record<string, string>>;

/** A running server on an attacked copy of a data directory. Its chains are not checked at its end, as they are broken. */
export type AttackedServer = AsyncDisposable & {
  readonly api: Api;
  /** Runs `anima <words>` against it, in a folder of its own. */
  readonly anima: (...words: readonly string[]) => Promise<Typed>;
  readonly folder: string;
  readonly output: () => string;
};

/** Starts a server on a copy of the data directory of a stopped server, after the copy was attacked with access to its files. */
export const startAttacked = async (
  { dataDir, ownerKey }: Pick<ServerUnderTest, 'dataDir' | 'ownerKey'>,
  attack: (events: DatabaseSyncInstance, other: { readonly reads: DatabaseSyncInstance }) => void,
  env: Environment = {},
): Promise<AttackedServer> => {
  const directory = await temporaryDirectory();
  const data = join(directory.path, 'data');
  await cp(dataDir, data, { recursive: true });
  const [events, reads] = ['events.db', 'reads.db'].map((file) => new DatabaseSync(join(data, file))) as [
    DatabaseSyncInstance,
    DatabaseSyncInstance,
  ];
  attack(events, { reads });
  for (const database of [events, reads]) database.close();
  const child = startBuilt('src/main.js', {
    env: { PORT: '0', ANIMA_DATA_DIR: data, ANIMA_RATE_LIMIT: 'off', LOG_LEVEL: 'info', ...env },
  });
  const { url } = JSON.parse(await child.waitForLine(/"msg":"serving"/)) as { readonly url: string };
  return {
    api: apiOf(url, ownerKey),
    anima: (...words) => typed(words, { env: { ANIMA_URL: url, ANIMA_API_KEY: ownerKey }, cwd: directory.path }),
    folder: directory.path,
    output: () => child.stdout + child.stderr,
    [Symbol.asyncDispose]: async () => {
      await child.kill();
      await directory[Symbol.asyncDispose]();
    },
  };
};

/** Changes the text of what one stored event says, and nothing else. @throws Error if there is no such event */
export const editEvent = (
  events: DatabaseSyncInstance,
  stream: string,
  revision: number,
  edit: (data: string) => string,
): void => {
  const which = 'stream = (SELECT id FROM streams WHERE name = ?) AND revision = ?';
  const row = events.prepare(`SELECT data FROM events WHERE ${which}`).get(stream, revision);
  const before = (row as { readonly data: string } | undefined)?.data;
  const after = before === undefined ? undefined : edit(before);
  if (after === undefined || after === before)
    throw new Error(`revision ${String(revision)} of ${stream} was not edited`);
  events.prepare(`UPDATE events SET data = ? WHERE ${which}`).run(after, stream, revision);
};

/** Removes the events of a stream from a revision onwards. */
export const cutStream = (events: DatabaseSyncInstance, stream: string, from: number): void => {
  events
    .prepare('DELETE FROM events WHERE stream = (SELECT id FROM streams WHERE name = ?) AND revision >= ?')
    .run(stream, from);
};
