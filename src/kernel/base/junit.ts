import { escapeXml } from './xml.js';

/** One test in a report; `outcome` is null if it passed. */
export type JunitCase = {
  readonly name: string;
  readonly outcome: { readonly kind: 'failure' | 'error' | 'skipped'; readonly message: string } | null;
};

export type JunitSuite = {
  readonly name: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly cases: readonly JunitCase[];
  readonly ms: number;
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

/** A case has no separate time. */
const caseLine = (classname: string, { name, outcome }: JunitCase): string => {
  const open = `  <testcase classname="${classname}" name="${escapeXml(name)}"`;
  return outcome === null
    ? `${open}/>`
    : `${open}><${outcome.kind} message="${escapeXml(outcome.message)}"/></testcase>`;
};

const suiteLines = ({ name, properties = {}, cases, ms }: JunitSuite): readonly string[] => {
  const classname = escapeXml(name);
  const count = (kind: string): string => String(cases.filter(({ outcome }) => outcome?.kind === kind).length);
  const list = Object.entries(properties).map(
    ([property, value]) => `<property name="${escapeXml(property)}" value="${escapeXml(value)}"/>`,
  );
  return [
    `<testsuite name="${classname}" tests="${String(cases.length)}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}" time="${seconds(ms)}">`,
    ...(list.length === 0 ? [] : [`  <properties>${list.join('')}</properties>`]),
    ...cases.map((one) => caseLine(classname, one)),
    '</testsuite>',
  ];
};

/** Suites as JUnit XML, for pipelines. One suite is the root; several are in a `testsuites`. */
export const junitXml = (suites: readonly JunitSuite[]): string => {
  const lines = suites.flatMap(suiteLines);
  const root = suites.length === 1 ? lines : ['<testsuites>', ...lines, '</testsuites>'];
  return ['<?xml version="1.0" encoding="UTF-8"?>', ...root, ''].join('\n');
};
