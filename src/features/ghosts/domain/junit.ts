import { escapeXml } from '../../../kernel/base/xml.js';
import { type ShownEnding, whyIncomplete } from './why-incomplete.js';

type TestCase = {
  readonly testName: string;
  readonly testPassed: boolean;
  readonly testSkipped?: boolean;
  readonly testError: string | null;
};

/** The results of a session, in the parts that CI systems read. */
export type TestSuite = ShownEnding & {
  readonly resultsSessionId: string;
  readonly resultsGoal: string;
  readonly resultsLevel: { readonly levelId: string };
  readonly resultsTests: readonly TestCase[];
  readonly resultsFailed: number;
  readonly resultsSkipped: number;
  /** In milliseconds. */
  readonly resultsDuration: number;
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

/** A case has no separate time: all cases look at the same steps. */
const caseOf = (classname: string, { testName, testPassed, testSkipped, testError }: TestCase): string => {
  const open = `<testcase classname="${classname}" name="${escapeXml(testName)}"`;
  if (testSkipped === true) return `  ${open}><skipped message="${escapeXml(testError ?? '')}"/></testcase>`;
  return testPassed ? `  ${open}/>` : `  ${open}><failure message="${escapeXml(testError ?? '')}"/></testcase>`;
};

/** A failure of the session itself, which no test shows. */
const errorCase = (classname: string, why: string): string =>
  `  <testcase classname="${classname}" name="session"><error message="${escapeXml(why)}"/></testcase>`;

/** The results of a session as JUnit XML, for pipelines; an incomplete session has an additional error. */
export const junitOf = (results: TestSuite): string => {
  const { resultsSessionId: id, resultsGoal, resultsLevel, resultsTests, resultsFailed, resultsSkipped } = results;
  // The same in every run, so that pipelines recognise a test.
  const name = escapeXml(`ghost ${resultsLevel.levelId} ${resultsGoal}`);
  const why = whyIncomplete(results);
  const errors = why === null ? [] : [errorCase(name, why)];
  const figures = `tests="${String(resultsTests.length + errors.length)}" failures="${String(resultsFailed)}" errors="${String(errors.length)}" skipped="${String(resultsSkipped)}" time="${seconds(results.resultsDuration)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="${name}" ${figures}>`,
    `  <properties><property name="session" value="${escapeXml(id)}"/><property name="status" value="${escapeXml(results.resultsStatus)}"/><property name="timedOut" value="${String(results.resultsTimedOut)}"/></properties>`,
    ...errors,
    ...resultsTests.map((test) => caseOf(name, test)),
    '</testsuite>',
    '',
  ].join('\n');
};
