import { memories } from '../../../projections/memories.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { BackgroundBatches, type BatchDeps, type BatchOutcome, TIMES_HALVED } from './background-batches.js';
import { FailingTexts } from './embed-lacking.js';

/** After this many batches in a row that begin with the same text, this gives up: something prevents its vector from being stored. */
const SAME_BATCHES = 5;

/** `passedOver`: texts that failed repeatedly, and are found only by their words. */
export type ReembedProgress = { readonly embedded: number; readonly total: number; readonly passedOver: number };

/** The batches of all texts: one that fails is followed by smaller ones, and only the failure of a single text ends this. */
const patientBatches = (deps: BatchDeps): (() => Promise<BatchOutcome>) => {
  const batches = new BackgroundBatches(deps);
  return async () => {
    for (let failures = 0; ; failures += 1) {
      try {
        return await batches.next({ urgent: false });
      } catch (error) {
        if (!(error instanceof Rejection) || failures >= TIMES_HALVED) throw error;
      }
    }
  };
};

/**
 * Embeds every text that has no vector of this embedder, as fast as possible. It can be stopped at any time and resumed: texts that have a vector are
 * not embedded again.
 * @returns how many texts were embedded
 * @throws what the embedder and the read models throw
 */
export const reembed = async (
  deps: BatchDeps,
  onProgress: (progress: ReembedProgress) => void = () => undefined,
): Promise<number> => {
  const { rowSearch, embedder } = deps;
  const total = await rowSearch.countWithoutVector(memories, {
    embedder: embedder.id,
    limit: Number.MAX_SAFE_INTEGER,
  });
  const failing = new FailingTexts(deps);
  const nextBatch = patientBatches(deps);
  let [embedded, passedOver, same] = [0, 0, 0];
  for (let before = ''; ;) {
    onProgress({ embedded, total: Math.max(total, embedded), passedOver });
    const done = await nextBatch();
    const [first] = [...done.embedded, ...done.failed, ...(done.aside === null ? [] : [done.aside])];
    if (first === undefined) return embedded;
    same = first.key === before ? same + 1 : 0;
    if (same >= SAME_BATCHES) throw new Error(`The vector of the row ${first.key} was not accepted.`);
    before = first.key;
    embedded += done.embedded.length;
    passedOver += (await failing.add(done.failed)).length + (done.aside === null ? 0 : 1);
    await yieldToEventLoop();
  }
};
