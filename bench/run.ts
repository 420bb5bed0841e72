import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { cleanUpAtExit } from './cleanup.js';
import { type Effort, fullEffort, shortEffort } from './effort.js';
import { measureLatency } from './latency.js';
import { describeMachine } from './machine.js';
import { measurePosts } from './post.js';
import { measureRebuild } from './rebuild.js';
import { type PartReport, report, withMeasured } from './report.js';
import { measureStart } from './start.js';
import { measureTurns } from './turns.js';

const PAGE = new URL('../../docs/performance.md', import.meta.url);

const parts: Readonly<Record<string, (effort: Effort) => Promise<PartReport>>> = {
  post: measurePosts,
  turns: measureTurns,
  latency: measureLatency,
  rebuild: measureRebuild,
  start: measureStart,
};

const USAGE = `usage: node dist/bench/run.js [--short | --write] [${Object.keys(parts).join('] [')}]

Measures the parts named, or all of them, and prints what docs/performance.md quotes.
  --write  also put it into docs/performance.md; only with all parts
  --short  only show that everything runs; the figures say nothing`;

/** What is asked for, or null when it cannot be understood. */
const asked = (args: readonly string[]) => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { write: { type: 'boolean', default: false }, short: { type: 'boolean', default: false } },
    });
    const known = positionals.every((name) => Object.hasOwn(parts, name));
    if (!known || (values.write && (values.short || positionals.length > 0))) return null;
    return { ...values, names: positionals.length > 0 ? positionals : Object.keys(parts) };
  } catch {
    return null;
  }
};

const run = async (names: readonly string[], effort: Effort): Promise<string> => {
  const machine = await describeMachine();
  const reports: PartReport[] = [];
  for (const name of names) {
    const began = performance.now();
    const measured = await parts[name]?.(effort);
    if (measured !== undefined) reports.push(measured);
    console.error(`${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  }
  return report(machine, reports);
};

const wanted = asked(process.argv.slice(2));
if (wanted === null) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  cleanUpAtExit();
  const block = await run(wanted.names, wanted.short ? shortEffort : fullEffort);
  console.log(block);
  if (wanted.write) await writeFile(PAGE, withMeasured(await readFile(PAGE, 'utf8'), block));
}
