import { escapeXml } from '../shared/xml.js';

type TestCase = {
  readonly testName: string;
  readonly testPassed: boolean;
  readonly testSkipped?: boolean;
  readonly testError: string | null;
  readonly testDuration: number;
};

/** The results of a session that pipelines look at (contract 9.3). */
export type TestSuite = {
  readonly resultsSessionId: string;
  readonly resultsTests: readonly TestCase[];
  readonly resultsFailed: number;
  readonly resultsSkipped: number;
  /** Milliseconds. */
  readonly resultsDuration: number;
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

const caseOf = ({ testName, testPassed, testSkipped, testError, testDuration }: TestCase): string => {
  const open = `<testcase classname="ghost" name="${escapeXml(testName)}" time="${seconds(testDuration)}"`;
  if (testSkipped === true) return `  ${open}><skipped/></testcase>`;
  return testPassed ? `  ${open}/>` : `  ${open}><failure message="${escapeXml(testError ?? '')}"/></testcase>`;
};

/** The results of a session as JUnit XML, which pipelines read. */
export const junitOf = (results: TestSuite): string => {
  const { resultsSessionId: id, resultsTests, resultsFailed, resultsSkipped, resultsDuration } = results;
  const figures = `tests="${String(resultsTests.length)}" failures="${String(resultsFailed)}" errors="0" skipped="${String(resultsSkipped)}" time="${seconds(resultsDuration)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="ghost ${escapeXml(id)}" ${figures}>`,
    ...resultsTests.map(caseOf),
    '</testsuite>',
    '',
  ].join('\n');
};
