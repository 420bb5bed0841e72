import { Argument, Option } from 'commander';

import { junitOf } from '../domain/junit.js';
import { whyIncomplete } from '../domain/why-incomplete.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { type GhostResults, resultLines } from './ghost-text.js';
import { JudgedNo } from '../../../cli/shared/judging.js';
import { CommandFailed, print, printJson, type Terminal } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';

export type ShowOptions = { readonly json?: boolean; readonly junit?: string; readonly all?: boolean };

export const sessionArgument = (): Argument => new Argument('<sessionId>', 'ID of the session');
export const allOption = (): Option => new Option('--all', 'also print findings that fail no test, and all metrics');

/** Checks before a long session that its results can be written. @throws CommandFailed when they cannot */
export const requireWritable = (terminal: Terminal, junit: string): Promise<void> =>
  writeTyped(terminal, junit, '', 'a');

/** Prints results and writes the JUnit file. @throws CommandFailed when the file cannot be written */
export const showResults = async (
  terminal: Terminal,
  results: GhostResults,
  { json = false, junit, all = false }: ShowOptions,
): Promise<void> => {
  if (json) printJson(terminal, results);
  else for (const line of resultLines(results, all)) print(terminal, line);
  if (junit !== undefined) await writeTyped(terminal, junit, junitOf(results));
};

/**
 * @throws JudgedNo when a test failed, or the session failed, was stopped or timed out
 * @throws CommandFailed when none of its tests could be checked
 */
export const requirePassed = (results: GhostResults): void => {
  const { resultsFailed, resultsSessionId: id, resultsTimedOut } = results;
  const why = whyIncomplete(results);
  const more = resultsTimedOut ? ' Raise --timeout to give it more time.' : '';
  const isEmpty = why === null && resultsFailed === 0 && results.resultsPassed === 0;
  const reasons = [
    ...(why === null ? [] : [`Session ${id} did not pass. ${why}${more}`]),
    ...(resultsFailed === 0
      ? []
      : [
          `${counted(resultsFailed, 'test', 'tests')} failed. To reproduce a finding, run: npx anima ghost repro ${id} <number>`,
        ]),
  ];
  if (reasons.length > 0) throw new JudgedNo(reasons.join('\n'));
  if (isEmpty)
    throw new CommandFailed(
      `Session ${id} did not pass: none of its tests could be checked. Does the level have a goal?`,
    );
};
