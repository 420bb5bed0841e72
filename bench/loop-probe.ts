import { openSync, readSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a server that is measured: it notes how long, in CPU time of the main thread, the event loop was held between two of its timers at most.
 * CPU time, because what else runs on the machine must not count. SIGUSR2 writes that into the file ANIMA_BENCH_LOOP, in milliseconds, and begins anew.
 * Linux alone tells the CPU time of a thread without a call of its own (proc(5), schedstat).
 */
const LOOK_MS = 1;
const file = process.env['ANIMA_BENCH_LOOP'];

if (isMainThread && file !== undefined) {
  const schedule = openSync('/proc/thread-self/schedstat', 'r');
  const bytes = Buffer.alloc(128);
  const cpuMs = (): number => {
    const read = readSync(schedule, bytes, 0, bytes.length, 0);
    return Number(bytes.toString('latin1', 0, read).split(' ')[0]) / 1_000_000;
  };
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
