import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { openDataDirectory } from '../../src/adapters/embedded/data-directory.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { apiOf } from '../support/api.js';
import { liveEventfully } from './eventful-life.js';
import { FIXTURES, isReplayed } from './stored-history.js';

/** More than an eventful life has. */
const MOST_EVENTS = 20_000;

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
await using server = await openEmbeddedServer();
await liveEventfully(apiOf(server.url, server.ownerKey));
await server.halt();
{
  using data = await openDataDirectory(server.dataDir);
  await using events = EmbeddedEventStore.open(data.eventsFile);
  const all = (await events.readAll(0, MOST_EVENTS)).filter(isReplayed);
  await mkdir(FIXTURES, { recursive: true });
  const file = join(FIXTURES, `${version}.ndjson`);
  // The history of a release never changes: an existing one is kept.
  await writeFile(file, all.map((event) => `${JSON.stringify(event)}\n`).join(''), { flag: 'wx' });
  console.log(`${file}: ${String(all.length)} events`);
}
