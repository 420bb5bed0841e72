import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';

/** A batch, and whether the next one was there already when this one was handed over. */
export type BatchWithMore<Batch> = { readonly batch: Batch; readonly more: boolean };

/** Hands batches over as they come, one ahead. Nothing waits for a batch that is not there yet. @throws what the batches throw */
export async function* withMore<Batch>(
  batches: AsyncIterable<Batch>,
): AsyncGenerator<BatchWithMore<Batch>, void, undefined> {
  const iterator = batches[Symbol.asyncIterator]();
  try {
    let next = ahead(iterator);
    for (;;) {
      const found = await next.result;
      if (found.done === true) return;
      next = ahead(iterator);
      // A batch that waits is here after one turn.
      await yieldToEventLoop();
      yield { batch: found.value, more: next.isBatch };
    }
  } finally {
    // Not awaited: an iterator may end only after the step that is under way, and that one when its signal aborts.
    iterator.return?.().catch(() => undefined);
  }
}

const ahead = <Batch>(iterator: AsyncIterator<Batch>) => {
  const state = { result: iterator.next(), isBatch: false };
  state.result.then(
    ({ done }) => (state.isBatch = done !== true),
    // It is thrown where it is awaited.
    () => undefined,
  );
  return state;
};
