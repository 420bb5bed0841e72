import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { MemoryEventStore } from '../support/memory/event-store.js';
import { npcStream, rulesetStream } from '../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { appendNext } from '../support/append-next.js';

/** The folder of the histories of released versions: `<version>.ndjson`, one event per line, in the order of recording. */
export const FIXTURES = fileURLToPath(new URL('../fixtures/histories', import.meta.url));

const kinds = [npcStream('local', ''), rulesetStream('local', '')];

/** Whether a replay needs an event: minds, and the rules that they decided by. */
export const isReplayed = ({ stream }: Pick<RecordedEvent, 'stream'>): boolean =>
  kinds.some((kind) => stream.startsWith(kind));

/** A store with a history in the same streams and in the same order. */
export const storeOfHistory = async (file: string): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  for (const line of lines) {
    const { stream, revision: _, position: __, ...event } = JSON.parse(line) as RecordedEvent;
    await appendNext(store, stream, [event]);
  }
  return store;
};
