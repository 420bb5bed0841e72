import { provoked } from '../domain/ghost/results.js';
import { table } from './terminal.js';

export type GhostFinding = {
  readonly n: number;
  readonly kind: string;
  readonly subject: string;
  readonly detail: string;
  readonly fromStep: number;
  readonly toStep: number;
  readonly count: number;
};
export type ShownTest = {
  readonly testName: string;
  readonly testPassed: boolean;
  readonly testSkipped?: boolean;
  readonly testError: string | null;
  readonly testDuration: number;
};

/** The results of a session, as far as commands look at them (contract 9.3, 9.9). */
export type GhostResults = {
  readonly resultsSessionId: string;
  readonly resultsTotalTests: number;
  readonly resultsPassed: number;
  readonly resultsFailed: number;
  readonly resultsSkipped: number;
  readonly resultsDuration: number;
  readonly resultsTests: readonly ShownTest[];
  readonly resultsCoverage: number;
  readonly resultsMetrics: readonly (readonly [string, number])[];
  readonly resultsFindings: readonly GhostFinding[];
  readonly resultsGoal: string;
  readonly resultsLevel: { readonly levelId: string; readonly generated: boolean };
  readonly resultsSeed: number;
  readonly resultsStatus: string;
  readonly resultsErrors: readonly string[];
  readonly resultsTimedOut: boolean;
  readonly resultsPartial?: true;
};

/** A finding on one line. */
export const findingLine = ({ n, kind, subject, detail, fromStep, count }: GhostFinding): string => {
  const times = count > 1 ? `, ${String(count)} times` : '';
  return `${String(n)}. ${kind} ${subject}: ${detail} (step ${String(fromStep)}${times})`;
};

const outcomeOf = ({ testPassed, testSkipped }: ShownTest): string =>
  testSkipped === true ? 'skipped' : testPassed ? 'passed' : 'FAILED';

/** Whether a finding is shown to somebody who did not ask for all. */
export const isShown = ({ kind }: Pick<GhostFinding, 'kind'>): boolean => !provoked.some((one) => one === kind);

const findingLines = (findings: readonly GhostFinding[], all: boolean): readonly string[] => {
  const shown = all ? findings : findings.filter(isShown);
  const left = findings.length - shown.length;
  return [
    ...(shown.length === 0 && left === 0 ? ['No findings.'] : shown.map(findingLine)),
    ...(left === 0 ? [] : [`Findings that fail no test: ${String(left)}. --all shows them.`]),
  ];
};

/**
 * The results as lines for a person: tests, findings and, with `all`, also what fails no test and every figure.
 */
export const resultLines = (results: GhostResults, all: boolean): readonly string[] => {
  const { resultsTests, resultsFindings, resultsMetrics, resultsCoverage, resultsDuration } = results;
  const covered = `${String(Math.round(resultsCoverage * 100))} %`;
  return [
    ...table(resultsTests.map((test) => [outcomeOf(test), test.testName, test.testError ?? ''])),
    ...findingLines(resultsFindings, all),
    ...(all ? table(resultsMetrics.map(([name, figure]) => [name, String(figure)])) : []),
    `${String(results.resultsPassed)} passed, ${String(results.resultsFailed)} failed, ${String(results.resultsSkipped)} skipped; ${covered} of the tiles entered in ${String(resultsDuration / 1_000)} s${results.resultsPartial === true ? '; it still plays' : ''}`,
  ];
};
