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
  readonly resultsPartial?: true;
};

/** A finding on one line. */
export const findingLine = ({ n, kind, subject, detail, fromStep, count }: GhostFinding): string =>
  `${String(n)}. ${kind} ${subject}: ${detail} (step ${String(fromStep)}${count > 1 ? `, ${String(count)} times` : ''})`;

const outcomeOf = ({ testPassed, testSkipped }: ShownTest): string =>
  testSkipped === true ? 'skipped' : testPassed ? 'passed' : 'FAILED';

/** The results as lines for a person: tests, findings, figures. */
export const resultLines = (results: GhostResults): readonly string[] => {
  const { resultsTests, resultsFindings, resultsMetrics, resultsCoverage, resultsDuration } = results;
  const covered = `${String(Math.round(resultsCoverage * 100))} %`;
  return [
    ...table(resultsTests.map((test) => [outcomeOf(test), test.testName, test.testError ?? ''])),
    ...(resultsFindings.length === 0 ? ['No findings.'] : resultsFindings.map(findingLine)),
    ...table(resultsMetrics.map(([name, figure]) => [name, String(figure)])),
    `${String(results.resultsPassed)} passed, ${String(results.resultsFailed)} failed, ${String(results.resultsSkipped)} skipped; ${covered} of the tiles seen in ${String(resultsDuration / 1_000)} s${results.resultsPartial === true ? '; it still plays' : ''}`,
  ];
};
