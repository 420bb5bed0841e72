import { EMBED_TEXTS } from '../../ports/embedder.js';

/** Checks the arguments of Embedder.embed. @throws RangeError, the reason of the signal */
export const checkEmbedCall = (texts: readonly string[], signal: AbortSignal | undefined): void => {
  if (texts.length > EMBED_TEXTS) {
    throw new RangeError(
      `an embedder accepts at most ${String(EMBED_TEXTS)} texts at a time, not ${String(texts.length)}`,
    );
  }
  signal?.throwIfAborted();
};
