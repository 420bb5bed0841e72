import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

import { threadClock } from './thread-time.js';

/**
 * Loaded into a measured server: it notes the longest time, in CPU time of the main thread, for which the event loop was held between two of its
 * timers. CPU time, so that other work on the machine does not count. SIGUSR2 writes it into the file ANIMA_BENCH_LOOP, in milliseconds, and resets
 * it.
 */
const LOOK_MS = 1;
const file = process.env['ANIMA_BENCH_LOOP'];

if (isMainThread && file !== undefined) {
  const cpuMs = threadClock();
  let last = cpuMs();
  let longest = 0;
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, LOOK_MS).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(file, String(longest));
    longest = 0;
    last = cpuMs();
  });
}
