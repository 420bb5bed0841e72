import type { Finding } from '../domain/findings.js';
import { type GhostTest, provoked } from '../domain/results.js';
import type { shownResults } from '../http/shown-results.js';
import { table } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';

/** The results of a session. */
export type GhostResults = ReturnType<typeof shownResults>;

/** A finding on one line. */
export const findingLine = ({ n, kind, subject, detail, fromStep, count }: Finding): string => {
  const times = count > 1 ? `, ${String(count)} times` : '';
  return `${String(n)}. ${kind} ${subject}: ${detail} (step ${String(fromStep)}${times})`;
};

const outcomeOf = ({ testPassed, testSkipped }: GhostTest): string =>
  testSkipped === true ? 'skipped' : testPassed ? 'passed' : 'FAILED';

/** Whether a finding is shown without `--all`. */
export const isShown = ({ kind }: Pick<Finding, 'kind'>): boolean => !provoked.some((one) => one === kind);

const findingLines = (findings: readonly Finding[], all: boolean): readonly string[] => {
  const shown = all ? findings : findings.filter(isShown);
  const left = findings.length - shown.length;
  return [
    ...(shown.length === 0 && left === 0 ? ['No findings.'] : shown.map(findingLine)),
    ...(left === 0 ? [] : [`${counted(left, 'finding fails', 'findings fail')} no test (--all shows them).`]),
  ];
};

/**
 * The results as text: tests, findings and, with `all`, the findings that fail no test and all metrics.
 */
export const resultLines = (results: GhostResults, all: boolean): readonly string[] => {
  const { resultsTests, resultsFindings, resultsMetrics, resultsCoverage, resultsDuration } = results;
  const covered = `${String(Math.round(resultsCoverage * 100))}%`;
  return [
    ...table(resultsTests.map((test) => [outcomeOf(test), test.testName, test.testError ?? ''])),
    ...findingLines(resultsFindings, all),
    ...(all ? table(resultsMetrics.map(([name, figure]) => [name, String(figure)])) : []),
    `${String(results.resultsPassed)} passed, ${String(results.resultsFailed)} failed, ${String(results.resultsSkipped)} skipped; ${covered} of the tiles visited in ${String(resultsDuration / 1_000)} s${results.resultsPartial === true ? ' (still running)' : ''}`,
  ];
};
