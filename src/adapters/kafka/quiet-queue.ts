import { createRequire } from 'node:module';

type RequestQueue = {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
};
type RequestQueueClass = { readonly prototype: RequestQueue };

let isQuiet = false;

/**
 * Patches kafkajs 2.2.4, once per process: after its first answer, an idle connection checks its empty queue a thousand times a second for ever,
 * because it schedules the next check with a negative delay (https://github.com/tulios/kafkajs/issues/1704). An empty queue needs no check: adding to
 * it schedules one.
 */
export const quietQueues = (): void => {
  if (isQuiet) return;
  isQuiet = true;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as RequestQueueClass;
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };
};
