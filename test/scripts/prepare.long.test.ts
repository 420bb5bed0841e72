import { once } from 'node:events';
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const script = resolve(import.meta.dirname, '../../scripts/prepare.mjs');
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A checkout with the script only. */
const makeCheckout = (): string => {
  const checkout = mkdtempSync(join(tmpdir(), 'anima prepare '));
  folders.push(checkout);
  mkdirSync(join(checkout, 'scripts'));
  cpSync(script, join(checkout, 'scripts/prepare.mjs'));
  return checkout;
};

/** Runs the script, as `npm ci` and `npx anima` do. */
const prepare = (checkout: string, env: Record<string, string> = {}): { status: number | null; stderr: string } => {
  const { status, stderr } = spawnSync(process.execPath, [join(checkout, 'scripts/prepare.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stderr };
};

describe('installing without development packages', () => {
  it('fails with one message that names NODE_ENV and the way out', () => {
    const { status, stderr } = prepare(makeCheckout(), { NODE_ENV: 'production' });
    expect(status).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^anima: .*NODE_ENV=production .*"npm ci --include=dev"\.$/),
    ]);
  });

  it('names the option when NODE_ENV is not the reason', () => {
    expect(prepare(makeCheckout(), { NODE_ENV: 'test' }).stderr).toMatch(/^anima: .*--omit=dev .*\n$/);
  });
});

/** Replaces the compiler: copies `src/main.ts`, counts its runs, and follows `behave`. */
const FAKE_COMPILER = `
const { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const out = process.argv[process.argv.indexOf('--outDir') + 1];
appendFileSync('compiled', 'x');
mkdirSync(out + '/scripts', { recursive: true });
cpSync('src/main.ts', out + '/main.js');
writeFileSync(out + '/scripts/bundle-workflows.js', '');
writeFileSync(out + '/scripts/copy-files.js', "require('node:fs').writeFileSync('docs-files', '')");
const behave = existsSync('behave') ? readFileSync('behave', 'utf8') : '';
if (behave === 'fail') process.exit(2);
if (behave === 'hang') { writeFileSync('hanging', ''); setInterval(() => {}, 1000); }
`;

describe('a build', () => {
  const withSources = (): { checkout: string; write: (name: string, text: string) => void; builds: () => number } => {
    const checkout = makeCheckout();
    const write = (name: string, text: string): void => writeFileSync(join(checkout, name), text);
    mkdirSync(join(checkout, 'node_modules/typescript/bin'), { recursive: true });
    mkdirSync(join(checkout, 'src'));
    write('node_modules/typescript/bin/tsc', FAKE_COMPILER);
    write('src/main.ts', 'first');
    write('package.json', '{"bin": {"anima": "dist/main.js"}}');
    return { checkout, write, builds: () => readFileSync(join(checkout, 'compiled'), 'utf8').length };
  };
  const built = (checkout: string): string => readFileSync(join(checkout, 'dist/main.js'), 'utf8');
  const partials = (checkout: string): readonly string[] =>
    readdirSync(checkout).filter((name) => name.startsWith('dist.'));

  it('is made once, and again when a file is changed, added or removed', () => {
    const { checkout, write, builds } = withSources();
    expect(prepare(checkout).status).toBe(0);
    expect(prepare(checkout)).toEqual({ status: 0, stderr: '' });
    expect([built(checkout), builds()]).toEqual(['first', 1]);
    expect(existsSync(join(checkout, 'dist/docs-files'))).toBe(true);
    write('src/main.ts', 'second');
    prepare(checkout);
    expect([built(checkout), builds()]).toEqual(['second', 2]);
    write('src/more.ts', '');
    prepare(checkout);
    rmSync(join(checkout, 'src/more.ts'));
    prepare(checkout);
    prepare(checkout);
    expect(builds()).toBe(4);
    expect(partials(checkout)).toEqual([]);
  });

  it('makes its command executable, also through a link to an earlier build', () => {
    const { checkout, write } = withSources();
    for (const text of ['first', 'second']) {
      write('src/main.ts', text);
      prepare(checkout);
      expect(statSync(join(checkout, 'dist/main.js')).mode & 0o777).toBe(0o755);
    }
  });

  it('that fails leaves the earlier one unchanged', () => {
    const { checkout, write } = withSources();
    prepare(checkout);
    write('src/main.ts', 'second');
    write('behave', 'fail');
    expect(prepare(checkout).status).toBe(2);
    expect([built(checkout), partials(checkout)]).toEqual(['first', []]);
  });

  it.each([
    ['interrupted', 'SIGINT', []],
    ['killed', 'SIGKILL', [expect.stringMatching(/^dist\.partial-\d+$/)]],
  ] as const)('that is %s leaves no incomplete build, and the next one is complete', async (_, signal, left) => {
    const { checkout, write } = withSources();
    write('behave', 'hang');
    const build = spawn(process.execPath, [join(checkout, 'scripts/prepare.mjs')], { stdio: 'ignore', detached: true });
    const ended = once(build, 'exit');
    await expect.poll(() => existsSync(join(checkout, 'hanging')), { timeout: 10_000 }).toBe(true);
    // As a terminal does: to all child processes.
    process.kill(-(build.pid ?? 0), signal);
    await ended;
    expect(existsSync(join(checkout, 'dist'))).toBe(false);
    expect(partials(checkout)).toEqual(left);
    rmSync(join(checkout, 'behave'));
    expect(prepare(checkout).status).toBe(0);
    expect([built(checkout), partials(checkout)]).toEqual(['first', []]);
  });
});
