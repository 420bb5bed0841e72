import { clearsOf } from '../../projections/memories.js';
import { projections } from '../../projections/registry.js';
import { utterances } from '../../projections/utterances.js';
import type { ReadModelWriter } from '../../src/ports/read-model-writer.js';
import type { ReadModels } from '../../src/ports/read-models.js';
import type { TextSearch } from '../../src/ports/text-search.js';
import { historyStreams, historyTenants } from './histories.js';

/** A writer with some of its methods replaced; the others are those of `writer`. */
export const writerWith = (writer: ReadModelWriter, replaced: Partial<ReadModelWriter>): ReadModelWriter => ({
  open: (...asked) => writer.open(...asked),
  reopen: (...asked) => writer.reopen(...asked),
  abandon: (build) => writer.abandon(build),
  begin: (projection) => writer.begin(projection),
  load: (...asked) => writer.load(...asked),
  commit: (build, changes) => writer.commit(build, changes),
  swapIn: (build) => writer.swapIn(build),
  parked: (limit) => writer.parked(limit),
  parkedCount: (projections) => writer.parkedCount(projections),
  awaited: () => writer.awaited(),
  onAwaited: (listener) => writer.onAwaited(listener),
  ...replaced,
});

/** Everything that readers can see of the registered read models after a history. */
export const everythingIn = async (models: ReadModels & TextSearch): Promise<unknown> => {
  const seen: unknown[] = [];
  for (const projection of projections) {
    for (const partition of [...historyTenants, ...historyStreams, ...historyStreams.map(clearsOf)]) {
      for (const direction of ['ascending', 'descending'] as const) {
        seen.push(await models.list(projection, { partition, direction, limit: 1_000 }));
      }
    }
    for (const stream of historyStreams)
      seen.push([projection.name, stream, await models.progress(projection, stream)]);
  }
  const all = { words: [], beginnings: [], without: [], tags: [], limit: 1_000 };
  for (const partition of historyTenants) seen.push(await models.passages(utterances, { partition, ...all }));
  for (const partition of historyTenants)
    seen.push(await models.passages(utterances, { partition, ...all, words: ['coins'], tags: [['kind said']] }));
  return seen;
};
