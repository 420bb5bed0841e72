import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often the heap is collected before it is looked at: what has a finalizer goes only with the next collection. */
const COLLECTIONS = 3;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What this process keeps in its heap, in bytes, once everything is collected that nobody can reach. */
export const collectedHeap = async (): Promise<number> => {
  for (let at = 0; at < COLLECTIONS; at += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
};
