import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

import { collectedHeap } from './collected-heap.js';

/** Loaded into a measured server: SIGUSR2 writes the size of its heap, in bytes, into the file ANIMA_BENCH_HEAP. */
const file = process.env['ANIMA_BENCH_HEAP'];

if (isMainThread && file !== undefined) {
  process.on('SIGUSR2', () => {
    void collectedHeap().then((bytes) => writeFileSync(file, String(bytes)));
  });
}
