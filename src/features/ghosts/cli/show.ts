import { Option } from 'commander';

import { junitOf } from '../domain/junit.js';
import { whyIncomplete } from '../domain/why-incomplete.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { type GhostResults, resultLines } from './ghost-text.js';
import { JudgedNo } from '../../../cli/shared/judging.js';
import { print, printJson, type Terminal } from '../../../cli/shared/terminal.js';

export type ShowOptions = { readonly json?: boolean; readonly junit?: string; readonly all?: boolean };

export const allOption = (): Option => new Option('--all', 'show also what fails no test, and every figure');
export const junitOption = (): Option => new Option('--junit <file>', 'write the results as JUnit XML, for a pipeline');

/** Whoever waits for a session should not learn at its end that its results have no place. @throws CommandFailed when the file cannot be written */
export const requireWritable = (terminal: Terminal, junit: string): Promise<void> =>
  writeTyped(terminal, junit, '', 'a');

/** Prints results, and writes them for a pipeline. @throws CommandFailed when the file cannot be written */
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
 * What a pipeline must not take for a pass.
 * @throws JudgedNo when a test failed, or the session ended before it had done all
 */
export const requirePassed = (results: GhostResults): void => {
  const { resultsFailed, resultsSessionId: id, resultsTimedOut } = results;
  const why = whyIncomplete(results);
  const more = resultsTimedOut ? ' Give it more with --timeout.' : '';
  const isEmpty = why === null && resultsFailed === 0 && results.resultsPassed === 0;
  const reasons = [
    ...(why === null ? [] : [`Session ${id} is no pass. ${why}${more}`]),
    ...(isEmpty ? [`Session ${id} is no pass: none of its tests could be judged. Has the level a goal?`] : []),
    ...(resultsFailed === 0
      ? []
      : [`Tests that failed: ${String(resultsFailed)}. How a finding comes about: anima ghost repro ${id} <number>.`]),
  ];
  if (reasons.length > 0) throw new JudgedNo(reasons.join('\n'));
};
