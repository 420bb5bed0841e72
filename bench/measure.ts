import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { cleanUpAtExit } from './cleanup.js';
import { type Effort, fullEffort, shortEffort } from './effort.js';
import { describeMachine } from './machine.js';
import { type Block, pages, type PartReport, report, withMeasured } from './report.js';

const PAGES = new URL('../../docs/explanation/performance/', import.meta.url);

/** What can be measured, by name. */
export type Parts = Readonly<Record<string, (effort: Effort) => Promise<PartReport>>>;

const usage = (parts: Parts): string => `usage: [--short | --write] [${Object.keys(parts).join('] [')}]

Measures the parts named, or all of them, and prints what docs/explanation/performance quotes.
  --write  also write it into its page; only with all parts
  --short  check that everything runs; the figures mean nothing`;

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
  if (!wanted.write) return;
  const page = new URL(pages[block], PAGES);
  await writeFile(page, withMeasured(await readFile(page, 'utf8'), block, text));
};
