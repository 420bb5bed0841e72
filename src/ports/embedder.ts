import { Rejection } from '../kernel/base/rejection.js';

/** How many texts one call takes at most. */
export const EMBED_TEXTS = 64;

/**
 * Makes vectors from texts, so that texts of like meaning lie close together.
 *
 * Deterministic: the same text makes the same vector, in whatever company it comes (a server elsewhere may differ in the last digits). A vector has
 * unit length, so the cosine of two is their dot product. All vectors of an embedder have the same number of dimensions. Nothing here may hold the
 * event loop: the work is done elsewhere (a worker thread, another server), and nothing is loaded before the first call.
 *
 * Failures: Rejection EMBEDDER_UNAVAILABLE when it cannot be loaded or reached, or does not answer in time, and after disposal; BUSY when too much is
 * waiting already. TextRefused, which has the code EMBEDDER_UNAVAILABLE too, when it definitely refuses one of the texts. Another embedder never takes its place: their vectors cannot be compared.
 */
export interface Embedder extends AsyncDisposable {
  /** Its name and version in one word (`minilm@3`), which is stored with each vector. Another model or another way to call it is another word. */
  readonly id: string;
  /** How many threads of this process one call may keep busy; 1 without it. */
  readonly threads?: number;
  /**
   * The vectors of at most EMBED_TEXTS texts, in their order; null for a text that has no meaning to it, such as an empty one.
   * `urgent`: somebody waits; such a call is taken before those that are not, which still get on.
   * @throws the reason of `signal`, RangeError for too many texts, and what stands above
   */
  embed(
    texts: readonly string[],
    options: { readonly urgent: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly (Float32Array | null)[]>;
  /** What its last call met, in a sentence, if that shows that it is away; null when it answered, and without it. It asks nobody. */
  down?(): string | null;
  /** The score of a cosine for this embedder: 0 to 1, rising, 0.5 or more for related texts and less for unrelated ones. */
  score(cosine: number): number;
}

/**
 * The embedder works, as far as it knows, and makes no vectors from these texts because of what one of them is: the same call will fail again. Never
 * for what passes, such as a limit of requests or a missing answer.
 */
export class TextRefused extends Rejection {
  constructor() {
    super('EMBEDDER_UNAVAILABLE', { retryAfter: 1 });
  }
}
