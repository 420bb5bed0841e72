import { describe, expect, it } from 'vitest';

import { junitXml } from '../../../src/kernel/base/junit.js';

const suite = { name: 'a & b', cases: [{ name: 'one', outcome: null }], ms: 12 };

describe('JUnit XML', () => {
  it('has one suite as its root, without properties if it has none', () => {
    expect(junitXml([suite])).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuite name="a &amp; b" tests="1" failures="0" errors="0" skipped="0" time="0.012">',
        '  <testcase classname="a &amp; b" name="one"/>',
        '</testsuite>',
        '',
      ].join('\n'),
    );
  });

  it('has several suites in one root', () => {
    const lines = junitXml([suite, suite]).split('\n');
    expect([lines[1], lines.at(-2)]).toEqual(['<testsuites>', '</testsuites>']);
    expect(lines.filter((line) => line.startsWith('<testsuite '))).toHaveLength(2);
  });
});
