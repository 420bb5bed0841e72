import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

import { threadClock } from './thread-time.js';

/**
 * Loaded into a server that is measured: it notes how long, in CPU time of the main thread, the event loop was held between two of its timers at most.
 * CPU time, because what else runs on the machine must not count. SIGUSR2 writes that into the file ANIMA_BENCH_LOOP, in milliseconds, and begins anew.
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
