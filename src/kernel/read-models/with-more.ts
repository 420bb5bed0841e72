import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';

/** A batch, and whether the next one was already available when this one was delivered. */
export type BatchWithMore<Batch> = { readonly batch: Batch; readonly more: boolean };

/** Yields batches as they come, reading one ahead. It never waits for a batch that is not available yet. @throws what the batches throw */
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
      // A batch that waits is available after one turn of the event loop.
      await yieldToEventLoop();
      yield { batch: found.value, more: next.isBatch };
    }
  } finally {
    // Not awaited: an iterator may end only after the step in progress, and that step only when its signal aborts.
    iterator.return?.().catch(() => undefined);
  }
}

const ahead = <Batch>(iterator: AsyncIterator<Batch>) => {
  const state = { result: iterator.next(), isBatch: false };
  state.result.then(
    ({ done }) => (state.isBatch = done !== true),
    // The error is thrown where the batch is awaited.
    () => undefined,
  );
  return state;
};
