import { type JunitCase, junitXml } from '../../../kernel/base/junit.js';
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
  /** In milliseconds. */
  readonly resultsDuration: number;
};

const caseOf = ({ testName: name, testPassed, testSkipped, testError }: TestCase): JunitCase => {
  const message = testError ?? '';
  if (testSkipped === true) return { name, outcome: { kind: 'skipped', message } };
  return { name, outcome: testPassed ? null : { kind: 'failure', message } };
};

/** The results of a session as JUnit XML, for pipelines; an incomplete session has an additional error. */
export const junitOf = (results: TestSuite): string => {
  const { resultsSessionId, resultsGoal, resultsLevel, resultsTests, resultsStatus, resultsTimedOut } = results;
  const why = whyIncomplete(results);
  /** A failure of the session itself, which no test shows. */
  const errors: readonly JunitCase[] =
    why === null ? [] : [{ name: 'session', outcome: { kind: 'error', message: why } }];
  return junitXml([
    {
      // The same in every run, so that pipelines recognise a test.
      name: `ghost ${resultsLevel.levelId} ${resultsGoal}`,
      properties: { session: resultsSessionId, status: resultsStatus, timedOut: String(resultsTimedOut) },
      cases: [...errors, ...resultsTests.map(caseOf)],
      ms: results.resultsDuration,
    },
  ]);
};
