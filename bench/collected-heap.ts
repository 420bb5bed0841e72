import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often the heap is collected before it is measured: objects with a finalizer are freed only by the next collection. */
const COLLECTIONS = 3;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The heap of this process, in bytes, after all unreachable objects were collected. */
export const collectedHeap = async (): Promise<number> => {
  for (let at = 0; at < COLLECTIONS; at += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
};
