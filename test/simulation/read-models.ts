import type { ReadModelWriter } from '../../src/ports/read-model-writer.js';
import type { ReadModels } from '../../src/ports/read-models.js';
import { writerWith } from '../support/read-models.js';
import type { RowSearch } from '../../src/ports/row-search.js';
import type { TextSearch } from '../../src/ports/text-search.js';
import type { Link } from './network.js';

type Read = ReadModels & RowSearch & TextSearch;

/** The read models as a server reads them over the network. */
export const readModelsOver = (models: Read, link: Link): Read => ({
  get: (...asked) => link.call(() => models.get(...asked)),
  getAll: (...asked) => link.call(() => models.getAll(...asked)),
  list: (...asked) => link.call(() => models.list(...asked)),
  counts: (...asked) => link.call(() => models.counts(...asked)),
  progress: (...asked) => link.call(() => models.progress(...asked)),
  reached: (...asked) => link.call(() => models.reached(...asked)),
  reachedPosition: (...asked) => link.call(() => models.reachedPosition(...asked)),
  withoutVector: (...asked) => link.call(() => models.withoutVector(...asked)),
  countWithoutVector: (...asked) => link.call(() => models.countWithoutVector(...asked)),
  setVectors: (...asked) => link.call(() => models.setVectors(...asked)),
  vectors: (...asked) => link.call(() => models.vectors(...asked)),
  hasMeaningless: (...asked) => link.call(() => models.hasMeaningless(...asked)),
  byWords: (...asked) => link.call(() => models.byWords(...asked)),
  passages: (...asked) => link.call(() => models.passages(...asked)),
});

/** The read models as a projector writes them: a commit without an answer may have been written. */
export const writerOver = (writer: ReadModelWriter, link: Link): ReadModelWriter =>
  writerWith(writer, {
    open: (...asked) => link.call(() => writer.open(...asked)),
    reopen: (...asked) => link.call(() => writer.reopen(...asked)),
    begin: (projection) => link.call(() => writer.begin(projection)),
    load: (...asked) => link.call(() => writer.load(...asked)),
    commit: (...asked) => link.call(() => writer.commit(...asked)),
    swapIn: (build) => link.call(() => writer.swapIn(build)),
    onAwaited: (listener) => writer.onAwaited(() => link.machine.wake(listener)),
  });
