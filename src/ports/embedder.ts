import { Rejection } from '../kernel/base/rejection.js';

/** The maximum number of texts in one call. */
export const EMBED_TEXTS = 64;

/**
 * Makes vectors from texts, so that texts of similar meaning lie close together.
 *
 * Deterministic: the same text makes the same vector, whichever texts accompany it (a remote server may differ in the last digits). A vector has unit
 * length, so the cosine of two is their dot product. All vectors of an embedder have the same number of dimensions. Nothing here may block the event
 * loop: the work is done elsewhere (a worker thread, another server), and nothing is loaded before the first call or `prepare`.
 *
 * Failures: Rejection EMBEDDER_UNAVAILABLE if it cannot be loaded or reached, or does not answer in time, and after disposal; BUSY if too much
 * already waits. TextRefused, which has the code EMBEDDER_UNAVAILABLE too, if it definitely refuses one of the texts. Another embedder never replaces
 * it: their vectors cannot be compared.
 */
export interface Embedder extends AsyncDisposable {
  /** Its name and version in one string (`use-multilingual-v3@1`), which is stored with each vector. Another model, or another way to call it, has another id. */
  readonly id: string;
  /** How many threads of this process one call may keep busy; default 1. */
  readonly threads?: number;
  /**
   * The vectors of at most EMBED_TEXTS texts, in their order; null for a text that has no meaning to it, such as an empty one. `urgent`: a caller
   * waits; such a call has priority over the others, which still make progress. `fresh`: to see whether it works, so vectors that were kept do not do.
   * @throws the reason of `signal`, RangeError for too many texts, and the failures above
   */
  embed(
    texts: readonly string[],
    options: { readonly urgent: boolean; readonly fresh?: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly (Float32Array | null)[]>;
  /** Begins to load in the background what the first call would wait for. A failure shows in the first call. Absent if there is nothing to load. */
  prepare?(): void;
  /**
   * The failure of its last call, as a message, if it shows that the embedder is unavailable; null if the call succeeded or there was none. It makes
   * no call.
   */
  down?(): string | null;
  /** The score of a cosine for this embedder: 0 to 1, rising, 0.5 or more for related texts and less for unrelated ones. */
  score(cosine: number): number;
}

/**
 * The embedder seems to work, but makes no vectors from these texts because of the content of one of them: the same call will fail again. Never
 * thrown for temporary failures, such as a rate limit or a missing answer.
 */
export class TextRefused extends Rejection {
  constructor() {
    super('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
  }
}
