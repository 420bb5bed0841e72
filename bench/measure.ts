import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { cleanUpAtExit } from './cleanup.js';
import { type Effort, fullEffort, shortEffort } from './effort.js';
import { describeMachine } from './machine.js';
import { type Block, pages, type PartReport, report, withMeasured } from './report.js';

const PAGES = new URL('../../docs/explanation/performance/', import.meta.url);

/** The parts that can be measured, by name. */
export type Parts = Readonly<Record<string, (effort: Effort) => Promise<PartReport>>>;

const usage = (parts: Parts): string => `Usage: [--short | --write] [${Object.keys(parts).join('] [')}]

Measures the named parts (default: all) and prints the figures for docs/explanation/performance.
  --write  also write them into their page (needs all parts)
  --short  only check that everything runs; the figures are meaningless`;

/** Parses the command line; null when it is invalid. */
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

/** Measures the parts that the command line names, prints the report and, with --write, updates its block of the page. */
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
  if (!wanted.write) return;
  const page = new URL(pages[block], PAGES);
  await writeFile(page, withMeasured(await readFile(page, 'utf8'), block, text));
};
