import { describe, expect, it } from 'vitest';

import { junitOf } from '../../../../src/features/ghosts/domain/junit.js';
import { pictureOf } from '../../../../src/features/ghosts/domain/picture.js';
import { SHADES } from '../../../../src/features/ghosts/domain/picture-legend.js';
import { goalOf } from '../../../../src/features/ghosts/domain/suite.js';
import { escapeXml } from '../../../../src/kernel/base/xml.js';
import { drawnLevel } from './drawn-level.js';

const hostile = '<script>&"\u0000\u001b[2J\ud800';

describe('text in XML', () => {
  it('opens no element and contains only legal XML characters', () => {
    expect(escapeXml(hostile)).toBe('&lt;script&gt;&amp;&quot;[2J\ufffd');
    expect(escapeXml("it's\ttwo\nlines")).toBe('it&apos;s\ttwo\nlines');
  });
});

describe('the results as JUnit XML', () => {
  const done = {
    ...{ resultsGoal: 'find_bugs', resultsLevel: { levelId: 'a <b>' }, resultsSessionId: 'g1', resultsDuration: 1_500 },
    ...{ resultsStatus: 'completed', resultsErrors: [], resultsTimedOut: false },
  };
  const nothing = { ...done, resultsTests: [] };

  it('names failed, passed and skipped tests [9.12c]', () => {
    const name = 'ghost a &lt;b&gt; find_bugs';
    const test = { testPassed: false, testError: null, testDuration: 1_500 };
    const xml = junitOf({
      ...done,
      resultsTests: [
        { ...test, testName: 'a', testPassed: true },
        { ...test, testName: 'b', testError: hostile },
        { ...test, testName: 'c', testSkipped: true, testError: 'Nobody knows.' },
      ],
    });
    expect(xml).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<testsuite name="${name}" tests="3" failures="1" errors="0" skipped="1" time="1.500">`,
        '  <properties><property name="session" value="g1"/><property name="status" value="completed"/><property name="timedOut" value="false"/></properties>',
        `  <testcase classname="${name}" name="a"/>`,
        `  <testcase classname="${name}" name="b"><failure message="&lt;script&gt;&amp;&quot;[2J\ufffd"/></testcase>`,
        `  <testcase classname="${name}" name="c"><skipped message="Nobody knows."/></testcase>`,
        '</testsuite>',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [{ resultsStatus: 'failed', resultsErrors: ['The <level> is lost.'] }, 'It failed. The &lt;level&gt; is lost.'],
    [{ resultsStatus: 'stopped' }, 'It was stopped.'],
    [{ resultsTimedOut: true }, 'It timed out.'],
  ])('has an error for an incomplete session: %j [9.12c]', (ended, why) => {
    const xml = junitOf({ ...nothing, ...ended });
    expect(xml).toContain('tests="1" failures="0" errors="1" skipped="0"');
    expect(xml).toContain(` name="session"><error message="${why}"/></testcase>`);
  });

  it.each(['completed', 'running'])('has no error for one that is %s', (resultsStatus) => {
    expect(junitOf({ ...nothing, resultsStatus })).toContain('tests="0" failures="0" errors="0" skipped="0"');
  });
});

describe('the picture of a session', () => {
  const level = drawnLevel(['#####', '#@aG#', '#####']);
  it('shows walls, things, the way, and where findings began [9.12a]', () => {
    const places = [1, 2, 3, 2, 3].map((x) => ({ x, y: 1 }));
    const findings = [{ n: 1, kind: 'soft_lock', subject: hostile, at: { x: 2, y: 1 } }];
    const svg = pictureOf({ ...level, name: hostile }, { places, findings });
    expect(svg).toContain('<title>goal goal1</title>');
    expect(svg).toContain('points="15,15 25,15 35,15 25,15 35,15"');
    expect(svg).toContain('<title>1. soft_lock &lt;script');
    expect(svg).not.toContain('<script');
    expect(svg.match(/<path /g)?.length).toBeGreaterThanOrEqual(3);
    const shades: readonly string[] = SHADES;
    const shadeOf = (x: number) =>
      new RegExp(`<path d="[^"]*M${String(x * 10)} 10h[^"]*" fill="(#\\w+)"/>`).exec(svg)?.[1];
    // Two tiles were entered twice, the start once.
    expect(shadeOf(1)).toBe(SHADES[0]);
    expect([shades.indexOf(shadeOf(2) ?? '') > 0, svg.includes('M20 10h20')]).toEqual([true, true]);
  });

  it('explains its colours below the level, inside the picture however narrow it is [9.12a]', () => {
    for (const columns of [5, 40, 256]) {
      const svg = pictureOf({ ...level, width: columns }, { places: [], findings: [] });
      const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number);
      const [, top = 0] = (/<g transform="translate\(0 (\d+)\)">/.exec(svg) ?? []).map(Number);
      expect(top).toBeGreaterThan(level.height * 10);
      const entries = [...svg.matchAll(/translate\((\d+) (\d+)\)"><\w+ [^>]*\/><text [^>]*>([^<]+)</g)];
      expect(entries).toHaveLength(11);
      for (const [, x, y] of entries) {
        expect(Number(x) + 88).toBeLessThanOrEqual(width);
        expect(top + Number(y) + 12).toBeLessThanOrEqual(height);
      }
    }
  });

  it('stays below 2 MiB for the largest level, however long the way [9.12a]', () => {
    const side = 256;
    // Every other tile is a wall: no tiles can be merged.
    const rows = Array.from({ length: side }, (_, y) =>
      Array.from({ length: side }, (__, x) => ((x + y) % 2 === 0 ? '#' : '.')).join(''),
    );
    const places = Array.from({ length: 200_000 }, (_, at) => ({ x: (at * 7) % side, y: (at * 13) % side }));
    const svg = pictureOf({ ...level, rows, width: side, height: side }, { places, findings: [] });
    expect(Buffer.byteLength(svg)).toBeLessThan(2 * 1024 * 1024);
  });
});

describe('a test suite', () => {
  it.each([
    ['exploration', 'maximize_exploration'],
    ['pathfinding', 'complete_level'],
    ['full', 'complete_level'],
    ['combat', 'find_bugs'],
    ['dialogue', 'find_bugs'],
    ['smoke', 'find_bugs'],
    ['anything', 'collect_metrics'],
    ['constructor', 'collect_metrics'],
  ])('%s is for %s [9.1b]', (suite, goal) => {
    expect(goalOf(suite)).toBe(goal);
  });
});
