import type { GhostResults, GhostTest } from './ghost-text.js';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text in XML 1.0; what XML cannot hold is left out. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    // eslint-disable-next-line no-control-regex -- these are what XML 1.0 (2.2) leaves out
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
    .replace(/[&<>"']/g, (char) => entities[char] ?? '');

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

const caseOf = ({ testName, testPassed, testSkipped, testError, testDuration }: GhostTest): string => {
  const open = `<testcase classname="ghost" name="${escaped(testName)}" time="${seconds(testDuration)}"`;
  if (testSkipped === true) return `  ${open}><skipped message="${escaped(testError ?? '')}"/></testcase>`;
  return testPassed ? `  ${open}/>` : `  ${open}><failure message="${escaped(testError ?? '')}"/></testcase>`;
};

/** The results of a session as JUnit XML, which pipelines read. */
export const junitOf = (results: GhostResults): string => {
  const { resultsSessionId: id, resultsTests, resultsFailed, resultsSkipped, resultsDuration } = results;
  const figures = `tests="${String(resultsTests.length)}" failures="${String(resultsFailed)}" errors="0" skipped="${String(resultsSkipped)}" time="${seconds(resultsDuration)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="ghost ${escaped(id)}" ${figures}>`,
    ...resultsTests.map(caseOf),
    '</testsuite>',
    '',
  ].join('\n');
};
