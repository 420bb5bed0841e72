import { memories } from '../../../projections/memories.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { type EmbeddingDeps, embedLacking, FailingTexts } from './embed-lacking.js';

/** After this many batches in a row that begin with the same text, this gives up: something prevents its vector from being stored. */
const SAME_BATCHES = 5;

/** `passedOver`: texts that failed repeatedly, and are found only by their words. */
export type ReembedProgress = { readonly embedded: number; readonly total: number; readonly passedOver: number };

/**
 * Embeds every text that has no vector of this embedder, as fast as possible. It can be stopped at any time and resumed: texts that have a vector are
 * not embedded again.
 * @returns how many texts were embedded
 * @throws what the embedder and the read models throw
 */
export const reembed = async (
  deps: EmbeddingDeps,
  onProgress: (progress: ReembedProgress) => void = () => undefined,
): Promise<number> => {
  const { rowSearch, embedder } = deps;
  const total = await rowSearch.countWithoutVector(memories, {
    embedder: embedder.id,
    limit: Number.MAX_SAFE_INTEGER,
  });
  const failing = new FailingTexts(deps);
  let [embedded, passedOver, same] = [0, 0, 0];
  for (let before = ''; ;) {
    onProgress({ embedded, total: Math.max(total, embedded), passedOver });
    const done = await embedLacking(deps, { urgent: false });
    const [first] = [...done.embedded, ...done.failed];
    if (first === undefined) return embedded;
    same = first.key === before ? same + 1 : 0;
    if (same >= SAME_BATCHES) throw new Error(`The vector of the row ${first.key} was not accepted.`);
    before = first.key;
    embedded += done.embedded.length;
    passedOver += (await failing.add(done.failed)).length;
    await yieldToEventLoop();
  }
};
