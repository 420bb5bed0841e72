import { abortWith } from '../../kernel/concurrency/abort-with.js';
import { resumedVectors, type ResumedVectors, type ModelThread } from './model-thread.js';

/** Makes vectors of texts, in one thread or in several. */
export type VectorMaker = Pick<ModelThread, 'vectorsOf'> & AsyncDisposable & { readonly count: number };

/**
 * Several threads of the same model. The texts of a call are distributed, the first ones to the least loaded threads. A thread that recently failed
 * to load the model gets none while there are others.
 */
export class ModelThreads implements VectorMaker {
  readonly #threads: readonly ModelThread[];

  /** @param open makes a thread that has not started yet */
  constructor(count: number, open: (kept: ResumedVectors) => ModelThread) {
    const kept = resumedVectors();
    this.#threads = Array.from({ length: count }, () => open(kept));
  }

  get count(): number {
    return this.#threads.length;
  }

  /** As ModelThread.vectorsOf; if one thread refuses, the complete call fails. */
  async vectorsOf(
    ...[texts, { urgent, signal }]: Parameters<ModelThread['vectorsOf']>
  ): Promise<readonly Float32Array[]> {
    // A thread that could not load the model is the least loaded.
    const able = this.#threads.filter(({ cannotLoad }) => !cannotLoad);
    const idlestFirst = [...(able.length === 0 ? this.#threads : able)].sort(
      (one, other) => one.waitingTexts - other.waitingTexts,
    );
    const hands = idlestFirst.slice(0, texts.length).map((thread, at, { length }) => ({
      thread,
      places: texts.flatMap((_, place) => (place % length === at ? [place] : [])),
    }));
    const ended = new AbortController();
    const letGo = abortWith(ended, signal);
    const vectors: Float32Array[] = [];
    const take = async ({ thread, places }: (typeof hands)[number]): Promise<void> => {
      const made = await thread.vectorsOf(
        places.map((place) => texts[place] ?? ''),
        { urgent, signal: ended.signal },
      );
      for (const [at, vector] of made.entries()) vectors[places[at] ?? 0] = vector;
    };
    try {
      await Promise.all(hands.map(take));
    } catch (error) {
      ended.abort(error);
      throw error;
    } finally {
      letGo();
    }
    return vectors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread[Symbol.asyncDispose]()));
  }
}
