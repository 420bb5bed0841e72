import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const script = resolve(import.meta.dirname, '../../scripts/prepare.mjs');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Runs the script in a checkout without any packages, as `npm ci` does when it leaves the development ones out. */
const prepare = (nodeEnv: string): { status: number | null; stderr: string } => {
  const checkout = mkdtempSync(join(tmpdir(), 'anima prepare '));
  folders.push(checkout);
  mkdirSync(join(checkout, 'scripts'));
  cpSync(script, join(checkout, 'scripts/prepare.mjs'));
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'scripts/prepare.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: nodeEnv },
  });
  return { status, stderr };
};

describe('installing without development packages', () => {
  it('fails with one sentence that names NODE_ENV and the way out', () => {
    const { status, stderr } = prepare('production');
    expect(status).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^anima: .*NODE_ENV=production .*"npm ci --include=dev"\.$/),
    ]);
  });

  it('names the option when NODE_ENV is not the reason', () => {
    expect(prepare('test').stderr).toMatch(/^anima: .*--omit=dev .*\n$/);
  });
});
