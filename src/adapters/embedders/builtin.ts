import type { Embedder } from '../../ports/embedder.js';
import type { EmbedderDeps } from './deps.js';
import { ModelThread, threadFile } from './model-thread.js';
import { ModelThreads } from './model-threads.js';
import { threadEmbedder } from './thread-embedder.js';

/** Its name, and a version that rises whenever the same text would make another vector. */
const ID = 'minilm-l6@1';
/** The cosine that separates related texts from others, as `npm run eval:recall` measures it. */
const RELATED = 0.25;
/** The model reads 256 tokens. English has about four bytes to a token, and no writing much less than three. */
const WINDOW_BYTES = 750;

/** The embedder that comes along: all-MiniLM-L6-v2, for English, 384 dimensions. */
export const openBuiltin = (threads: number, deps: EmbedderDeps): Embedder =>
  threadEmbedder(new ModelThreads(threads, () => new ModelThread(threadFile, { kind: 'builtin' }, deps)), {
    id: ID,
    related: RELATED,
    windowBytes: WINDOW_BYTES,
  });
