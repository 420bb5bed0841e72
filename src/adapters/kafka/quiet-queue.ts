import { createRequire } from 'node:module';

type RequestQueue = {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
};
type RequestQueueClass = { readonly prototype: RequestQueue };

let isQuiet = false;

/**
 * Mends kafkajs 2.2.4, once in a process: after its first answer, a connection that waits for nothing looks at its empty queue a thousand times a
 * second for ever, because it schedules the next look for a negative time (https://github.com/tulios/kafkajs/issues/1704). An empty queue needs
 * no look: whatever is put into it schedules one.
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
