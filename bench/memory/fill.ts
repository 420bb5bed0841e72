import { join } from 'node:path';

import { memories } from '../../projections/memories.js';
import { projections } from '../../projections/registry.js';
import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { EmbeddedReadModels } from '../../src/adapters/embedded/read-models.js';
import { openReadsFile } from '../../src/adapters/embedded/reads-file.js';
import { openBuiltin } from '../../src/adapters/embedders/open.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import { rebuild } from '../../src/kernel/read-models/rebuild.js';
import { StreamWriter } from '../../src/kernel/streams/stream-writer.js';
import { makeProcessId } from '../../src/kernel/crypto/process-id.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { Embedder } from '../../src/ports/embedder.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { startMindServer } from '../server.js';
import { noFold } from '../turn-history.js';
import { DIMENSIONS, memoryText, randomVectors } from './texts.js';

const TENANT = 'local';
/** How many memories one append contains, and how many vectors are set in one call. */
const APPEND = 500;
const SET = 1_000;

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The name of a mind with many memories. */
export const rememberingMind = (index: number): string => `remembering-${index}`;

/** The embedder that a server has by default, without its cache; it loads nothing before its first call. */
export const builtinEmbedder = (): Embedder => openBuiltin(1, { clock: systemClock, random: systemRandom, log: quiet });

const writeMemories = async (store: EventStore, mind: number, count: number): Promise<void> => {
  const writer = new StreamWriter(npcStream(TENANT, rememberingMind(mind)), noFold, store, systemClock);
  await writer.load();
  for (let from = 0; from < count; from += APPEND) {
    const timeMs = systemClock.now().getTime();
    const commandId = `fill-${mind}-${from}`;
    const drafts = Array.from({ length: Math.min(APPEND, count - from) }, (_, index) => ({
      type: 'MemoryStored',
      data: {
        memoryId: makeProcessId('m', writer.revision, timeMs, `${commandId}-${index}`),
        text: memoryText(mind * count + from + index),
        type: 'observation',
        importance: 0.5,
      },
    }));
    const by = { tenant: TENANT, actor: 'bench', commandId, correlationId: commandId, causationId: null };
    if ((await writer.append(drafts, by, timeMs)) === null) throw new Error('somebody else writes to this store');
  }
};

const setVectors = async (models: EmbeddedReadModels): Promise<void> => {
  await using embedder = builtinEmbedder();
  for (let seed = 1; ; seed += 1) {
    const texts = await models.withoutVector(memories, { embedder: embedder.id, limit: SET });
    if (texts.length === 0) return;
    const numbers = randomVectors(texts.length, seed);
    const vectors = texts.map((row, index) => ({
      ...row,
      vector: numbers.slice(index * DIMENSIONS, (index + 1) * DIMENSIONS),
    }));
    await models.setVectors(memories, embedder.id, vectors);
  }
};

/**
 * Makes a data directory whose minds have memories: through the ports, because over HTTP it would take too long.
 * @param embedded whether the memories have vectors, or a server must still make them
 */
export const fillMemories = async (
  dataDir: string,
  { minds, each, embedded }: { readonly minds: number; readonly each: number; readonly embedded: boolean },
): Promise<void> => {
  // The first start makes the keys.
  await (await startMindServer(dataDir))[Symbol.asyncDispose]();
  await using store = EmbeddedEventStore.open(join(dataDir, 'events.db'));
  for (let mind = 0; mind < minds; mind += 1) await writeMemories(store, mind, each);
  using reads = openReadsFile(join(dataDir, 'reads.db'));
  const models = new EmbeddedReadModels(reads, systemClock);
  await rebuild({ events: store, writer: models, clock: systemClock }, projections);
  if (embedded) await setVectors(models);
};
