import { Argument, Option } from 'commander';

import { asOfOf, expiryOf, sinceOf, untilOf } from './since.js';
import { wholeFrom } from './whole-from.js';

/** The options and arguments that several commands share, so that each reads the same everywhere. */

/** `--json`. @param each what is printed on each line; without it the result is one line */
export const jsonOption = (each?: string): Option =>
  new Option(
    '--json',
    each === undefined ? 'print the result as one line of JSON' : `print each ${each} as one line of JSON`,
  );

export const limitOption = (usual: number): Option =>
  new Option('--limit <n>', 'print at most this many').argParser(wholeFrom(1)).default(usual);

export const sinceOption = (): Option =>
  new Option(
    '--since <time>',
    'only from this time on: an age (7d, 12h, 30m), a day (2026-07-01, UTC) or a time (2026-07-01T09:30:00Z)',
  ).argParser(sinceOf(Date.now));

export const untilOption = (): Option =>
  new Option('--until <time>', 'only up to this time, in the same formats; a day is included in full').argParser(
    untilOf(Date.now),
  );

export const asOfOption = (): Option =>
  new Option(
    '--as-of <revision|time>',
    'as it was after this revision or at this time, in the formats of --until of other commands',
  ).argParser(asOfOf(Date.now));

export const expiresAtOption = (): Option =>
  new Option(
    '--expires-at <time>',
    'when the key expires: a time (2027-01-01T00:00:00Z) or a day, to its end (2026-12-31, UTC) (default: never)',
  ).argParser(expiryOf);

export const outOption = (): Option => new Option('--out <file>', 'write to this file instead of standard output');

export const junitOption = (): Option => new Option('--junit <file>', 'write the results to this file as JUnit XML');

export const npcIdArgument = (): Argument => new Argument('<npcId>', 'ID of the NPC');

/** The end of a command's help. @param lines what is typed after `npx anima` */
export const examples = (...lines: readonly string[]): string =>
  ['', 'Examples:', ...lines.map((line) => `  npx anima ${line}`)].join('\n');
