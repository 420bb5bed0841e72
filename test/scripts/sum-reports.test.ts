import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const script = resolve(import.meta.dirname, '../../scripts/sum-reports.mjs');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Writes a file with that content and returns its path, which contains a space and an equals sign. */
const write = (content: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'anima reports='));
  folders.push(folder);
  const file = join(folder, 'report.json');
  writeFileSync(file, content);
  return file;
};

const report = (
  counts: { passed?: number; failed?: number; pending?: number; todo?: number },
  testResults: unknown[] = [],
) =>
  write(
    JSON.stringify({
      numPassedTests: counts.passed ?? 0,
      numFailedTests: counts.failed ?? 0,
      numPendingTests: counts.pending ?? 0,
      numTodoTests: counts.todo ?? 0,
      testResults,
    }),
  );

const sum = (...parts: string[]): { status: number | null; last: string | undefined; complaints: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...parts], { encoding: 'utf8' });
  return { status, last: stdout.trimEnd().split('\n').at(-1), complaints: stderr };
};

describe('the sum of several test runs', () => {
  it('adds the passed tests of all runs and does not mention skipped tests when there are none', () => {
    const total = sum(`${report({ passed: 3 })}=0`, `${report({ passed: 4 })}=0`, 'check=0');
    expect(total).toEqual({ status: 0, last: '7 passed, 0 failed', complaints: '' });
  });

  it('counts pending and todo tests as skipped', () => {
    expect(sum(`${report({ passed: 1, pending: 2, todo: 1 })}=0`).last).toBe('1 passed, 0 failed, 3 skipped');
  });

  it('fails when one run failed', () => {
    const total = sum(`${report({ passed: 3 })}=0`, `${report({ passed: 2, failed: 1 })}=1`);
    expect(total).toMatchObject({ status: 1, last: '5 passed, 1 failed' });
  });

  it('counts a failed step as one failed', () => {
    expect(sum(`${report({ passed: 3 })}=0`, 'check=2')).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
  });

  it('counts a missing report as failed', () => {
    const total = sum(`${report({ passed: 3 })}=0`, `${join(tmpdir(), 'no-such-report.json')}=0`);
    expect(total).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
    expect(total.complaints).toContain('no readable report');
  });

  it.each(['{"numPassedTests": 5', '[]', 'null', '{"numPassedTests": 5}'])(
    'counts an invalid report as failed: %s',
    (content) => {
      expect(sum(`${write(content)}=0`)).toMatchObject({ status: 1, last: '0 passed, 1 failed' });
    },
  );

  it('counts a run without a test as failed', () => {
    expect(sum(`${report({})}=0`)).toMatchObject({ status: 1, last: '0 passed, 1 failed' });
  });

  it('counts a test file that could not be loaded as failed', () => {
    const file = report({ passed: 3 }, [
      { name: 'loaded.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] },
      { name: 'broken.test.ts', status: 'failed', assertionResults: [] },
    ]);
    const total = sum(`${file}=1`);
    expect(total).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
    expect(total.complaints).toContain('broken.test.ts');
  });

  it('does not count a file with failed tests twice', () => {
    const file = report({ passed: 3, failed: 1 }, [
      { name: 'failing.test.ts', status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'passed' }] },
    ]);
    expect(sum(`${file}=1`).last).toBe('3 passed, 1 failed');
  });

  it('counts an exit code that no failed test explains as failed', () => {
    expect(sum(`${report({ passed: 3 })}=137`)).toMatchObject({ status: 1, last: '3 passed, 1 failed' });
  });

  it('fails when nothing passed', () => {
    expect(sum('check=0')).toMatchObject({ status: 1, last: '0 passed, 0 failed' });
  });

  it('refuses an unreadable argument', () => {
    expect(sum('report.json').status).toBe(2);
  });
});
