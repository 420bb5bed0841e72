import type { Embedder } from '../../ports/embedder.js';
import type { EmbedderChoice } from '../../ports/embedder-choice.js';
import { ApiEmbedder } from './api-embedder.js';
import { cachedEmbedder } from './cached-embedder.js';
import type { EmbedderDeps } from './deps.js';
import { ModelThread, threadFile } from './model-thread.js';
import { ModelThreads } from './model-threads.js';
import { openOnnx } from './onnx.js';
import { threadEmbedder } from './thread-embedder.js';

/** Its name, and a version that rises whenever the same text would make another vector. */
const ID = 'use-multilingual-v3@1';
/** The cosine that separates related texts from others, as `npm run eval:recall` measures it. */
const RELATED = 0.21;
/** The model reads texts of any length. Windows only bound the time of one text, for which an urgent call may have to wait. */
const WINDOW_BYTES = 750;

/** The bundled embedder: Google's universal-sentence-encoder-multilingual v3, for 15 languages, 512 dimensions. */
export const openBuiltin = (threads: number, deps: EmbedderDeps): Embedder =>
  threadEmbedder(
    new ModelThreads(threads, (kept) => new ModelThread(threadFile, { kind: 'builtin' }, { ...deps, kept })),
    {
      id: ID,
      related: RELATED,
      windowBytes: WINDOW_BYTES,
    },
  );

/** The embedder of the settings. It loads nothing and makes no request before its first call or `prepare`. */
const openUncached = async (choice: EmbedderChoice, deps: EmbedderDeps): Promise<Embedder> => {
  switch (choice.kind) {
    case 'builtin':
      return openBuiltin(choice.threads ?? 1, deps);
    case 'onnx':
      return openOnnx(choice, deps);
    case 'api':
      return new ApiEmbedder(choice, deps);
  }
};

/**
 * The embedder of the settings, which keeps the vectors of the texts that it embedded last. @param cacheBytes how much memory these may take
 * @throws StartProblem if it can never work
 */
export const openEmbedder = async (choice: EmbedderChoice, deps: EmbedderDeps, cacheBytes: number): Promise<Embedder> =>
  cachedEmbedder(await openUncached(choice, deps), cacheBytes);
