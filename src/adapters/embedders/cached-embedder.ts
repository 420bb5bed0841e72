import { LRUCache } from 'lru-cache';

import { defined } from '../../kernel/base/defined.js';
import { type Embedder, TextRefused } from '../../ports/embedder.js';
import { checkEmbedCall } from '../shared/embed-call.js';

type Vector = Float32Array | null;
type EmbedOptions = Parameters<Embedder['embed']>[1];

/** The size of an entry in addition to its text and its numbers, in bytes. */
const ENTRY_BYTES = 200;

/** How a call of the embedder ended. `isOfCaller`: others who waited for it are not affected, and have to call themselves. */
type Ended =
  { readonly vectors: ReadonlyMap<string, Vector> } | { readonly error: unknown; readonly isOfCaller: boolean };
type Running = { readonly urgent: boolean; readonly ended: Promise<Ended> };

/** Waits for a promise that never rejects. @throws the reason of the signal */
const unlessAborted = <Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> =>
  signal === undefined
    ? promise
    : new Promise((resolve, reject) => {
        const onAbort = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
        void promise.then((value) => {
          signal.removeEventListener('abort', onAbort);
          resolve(value);
        });
      });

/**
 * An embedder that keeps the vectors of the texts that it embedded last, within `maxBytes`: the text of a turn is embedded to recall, and again as a
 * memory. Calls that need the same text at the same time share one call, but an urgent one never waits for one that is not. Failures are not kept.
 */
export const cachedEmbedder = (embedder: Embedder, maxBytes: number): Embedder => {
  const known = new LRUCache<string, { readonly vector: Vector }>({
    maxSize: maxBytes,
    sizeCalculation: ({ vector }, text) => ENTRY_BYTES + 2 * text.length + (vector?.byteLength ?? 0),
  });
  const running = new Map<string, Running>();

  const call = (texts: readonly string[], options: EmbedOptions): Promise<Ended> => {
    const ended = embedder.embed(texts, options).then(
      (made): Ended => ({ vectors: new Map(texts.map((text, at) => [text, made[at] ?? null])) }),
      (error: unknown): Ended => ({
        error,
        isOfCaller: options.signal?.aborted === true || error instanceof TextRefused,
      }),
    );
    const mine: Running = { urgent: options.urgent, ended };
    for (const text of texts) running.set(text, mine);
    return ended.then((end) => {
      for (const text of texts) if (running.get(text) === mine) running.delete(text);
      if ('vectors' in end) for (const [text, vector] of end.vectors) known.set(text, { vector });
      return end;
    });
  };

  /** What is known of these texts, the calls of others that make more of it, and the rest. */
  const shared = (texts: readonly string[], urgent: boolean) => {
    const found = new Map<string, Vector>();
    const others = new Set<Promise<Ended>>();
    const rest: string[] = [];
    for (const text of texts) {
      const kept = known.get(text);
      const other = running.get(text);
      if (kept !== undefined) found.set(text, kept.vector);
      else if (other !== undefined && (other.urgent || !urgent)) others.add(other.ended);
      else rest.push(text);
    }
    return { found, others, rest };
  };

  const embed: Embedder['embed'] = async (texts, options) => {
    checkEmbedCall(texts, options.signal);
    const { urgent, fresh = false, signal } = options;
    const distinct = [...new Set(texts)];
    const { found, others, rest } = fresh
      ? { found: new Map<string, Vector>(), others: [], rest: distinct }
      : shared(distinct, urgent);
    const take = (end: Ended): void => {
      if ('error' in end) throw end.error;
      for (const [text, vector] of end.vectors) found.set(text, vector);
    };
    if (rest.length > 0) take(await call(rest, options));
    for (const ended of others) {
      const end = await unlessAborted(ended, signal);
      // What failed in time for another urgent caller fails for this one too: a further try would keep its caller waiting.
      if ('vectors' in end || (urgent && !end.isOfCaller)) take(end);
    }
    const left = distinct.filter((text) => !found.has(text));
    if (left.length > 0) take(await call(left, options));
    return texts.map((text) => found.get(text) ?? null);
  };

  return {
    id: embedder.id,
    ...defined({ threads: embedder.threads }),
    embed,
    ...(embedder.prepare === undefined ? {} : { prepare: () => embedder.prepare?.() }),
    ...(embedder.down === undefined ? {} : { down: () => embedder.down?.() ?? null }),
    score: (cosine) => embedder.score(cosine),
    async [Symbol.asyncDispose]() {
      known.clear();
      await embedder[Symbol.asyncDispose]();
    },
  };
};
