import { parseArgs } from 'node:util';

import { explore } from './explore.js';

/** How many seeds pass between two lines of progress. */
const PROGRESS_SEEDS = 500;

const usage = 'npm run simulate -- [--seeds 1000] [--from 0]';

const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`"${text}" is not a whole number: ${usage}`);
  return Number(text);
};

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, from: { type: 'string', default: '0' } },
});
const from = wholeNumber(values.from);
const seeds = wholeNumber(values.seeds);
const beganMs = performance.now();
const sums = { acknowledged: 0, events: 0, refused: 0, virtualMs: 0 };
const failing: number[] = [];

const progress = (done: number): string =>
  `${String(done)} of ${String(seeds)} seeds in ${((performance.now() - beganMs) / 1_000).toFixed(0)} s, ${String(failing.length)} failed: ` +
  `${String(sums.acknowledged)} requests acknowledged, ${String(sums.refused)} refused or without an answer, ` +
  `${String(sums.events)} events, ${(sums.virtualMs / 3_600_000).toFixed(1)} h of virtual time`;

for (let done = 0; done < seeds;) {
  const { outcome, failure } = await explore(from + done);
  sums.acknowledged += outcome.acknowledged;
  sums.events += outcome.events;
  sums.virtualMs += outcome.virtualMs;
  for (const times of outcome.refusals.values()) sums.refused += times;
  if (failure !== null) {
    failing.push(from + done);
    console.log(failure);
  }
  done += 1;
  if (done % PROGRESS_SEEDS === 0 && done < seeds) console.log(progress(done));
}
console.log(progress(seeds));
if (failing.length > 0) {
  console.log(`Failing seeds: ${failing.join(', ')}. One alone: npm run simulate -- --from <seed> --seeds 1`);
  process.exitCode = 1;
}
