import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { cleanUpAtExit } from './cleanup.js';
import { type Effort, fullEffort, shortEffort } from './effort.js';
import { describeMachine } from './machine.js';
import { type Block, type PartReport, report, withMeasured } from './report.js';

const PAGE = new URL('../../docs/performance.md', import.meta.url);

/** What can be measured, by name. */
export type Parts = Readonly<Record<string, (effort: Effort) => Promise<PartReport>>>;

const usage = (parts: Parts): string => `usage: [--short | --write] [${Object.keys(parts).join('] [')}]

Measures the parts named, or all of them, and prints what docs/performance.md quotes.
  --write  also put it into docs/performance.md; only with all parts
  --short  only show that everything runs; the figures say nothing`;

/** What the command line asks for, or null when it cannot be understood. */
const asked = (args: readonly string[], parts: Parts) => {
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

/** Measures what the command line asks for and prints it. Writes it into its block of the page when asked to. */
export const measureParts = async (block: Block, parts: Parts, args: readonly string[]): Promise<void> => {
  const wanted = asked(args, parts);
  if (wanted === null) {
    console.error(usage(parts));
    process.exitCode = 2;
    return;
  }
  cleanUpAtExit();
  const effort = wanted.short ? shortEffort : fullEffort;
  const machine = await describeMachine();
  const reports: PartReport[] = [];
  for (const name of wanted.names) {
    const began = performance.now();
    const measured = await parts[name]?.(effort);
    if (measured !== undefined) reports.push(measured);
    console.error(`${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  }
  const text = report(machine, reports);
  console.log(text);
  if (wanted.write) await writeFile(PAGE, withMeasured(await readFile(PAGE, 'utf8'), block, text));
};
