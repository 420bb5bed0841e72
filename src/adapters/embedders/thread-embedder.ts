import { calibrated } from '../../ports/calibrated.js';
import type { Embedder } from '../../ports/embedder.js';
import { checkEmbedCall } from '../shared/embed-call.js';
import type { VectorMaker } from './model-threads.js';
import { meanOf, windowsOf } from './windows.js';

/** `related`: the cosine that separates related texts from others. `windowBytes`: longer texts are embedded in windows of this length, in UTF-8. */
export type ThreadEmbedderOptions = {
  readonly id: string;
  readonly related: number;
  readonly windowBytes: number;
};

/** An embedder over a model in threads that it owns. */
export const threadEmbedder = (
  threads: VectorMaker,
  { id, related, windowBytes }: ThreadEmbedderOptions,
): Embedder => ({
  id,
  threads: threads.count,
  embed: async (texts, options) => {
    checkEmbedCall(texts, options.signal);
    const windows = texts.map((text) => windowsOf(text, windowBytes));
    const all = windows.flat();
    const vectors = all.length === 0 ? [] : await threads.vectorsOf(all, options);
    let from = 0;
    return windows.map(({ length }) => meanOf(vectors.slice(from, (from += length))));
  },
  prepare: () => {
    void threads.vectorsOf(Array<string>(threads.count).fill('.'), { urgent: false }).catch(() => undefined);
  },
  score: (cosine) => calibrated(cosine, related),
  [Symbol.asyncDispose]: () => threads[Symbol.asyncDispose](),
});
