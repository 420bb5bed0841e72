import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { built } from '../support/built.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { type PageStep, stepsOf } from './page-steps.js';

const repository = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  'examples/lighthouse/README.md',
  'examples/rules/README.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('adr'))
    .map((name) => join('docs', name))
    .sort(),
].map((page) => ({ page, steps: stepsOf(readFileSync(join(repository, page), 'utf8')) }));
const runnable = pages.filter(({ steps }) => steps.some(({ kind }) => kind === 'script' || kind === 'session'));

/** How long all commands of one page may take, in milliseconds: generous, because a machine may be busy. */
const PAGE_MS = 300_000;

/** A directory as a reader has it: the checkout without its own data, and `npx anima` as this build. */
const prepareCheckout = async (path: string): Promise<void> => {
  for (const name of ['package.json', 'node_modules', 'dist', 'examples', 'levels', 'docs', 'src'])
    await symlink(join(repository, name), join(path, name));
  await mkdir(join(path, '.bin'));
  const npx = `#!/bin/sh\n[ "$1" = anima ] || { echo "npx $1 is not expected on a page" >&2; exit 1; }\nshift\nexec "${process.execPath}" "${built('src/cli/anima.js')}" "$@"\n`;
  await writeFile(join(path, '.bin/npx'), npx, { mode: 0o755 });
  // Readers see an error response; a test sees it only if curl fails.
  const fail =
    'for word; do case $word in --fail*|-[!-]*f*) fails=1; break ;; -d|--data*) break ;; esac; done\n[ "$fails" ] || set -- --fail-with-body "$@"';
  const curl = `#!/bin/sh\n${fail}\nPATH=$PATH_WITHOUT_PAGE\nexport PATH\nexec curl "$@"\n`;
  await writeFile(join(path, '.bin/curl'), curl, { mode: 0o755 });
};

/** A script that runs the steps one after another in one shell, so that variables last, and writes how each ended to `.results`. */
const driverOf = (steps: readonly PageStep[]): string => {
  const lines = [
    'set -E -o pipefail',
    'trap \'last=$?; [[ $BASH_COMMAND == source\\ .files/* ]] || { codes+=($last); failed+=("$BASH_COMMAND"); }\' ERR',
    'mkdir -p .out',
    ': > .results',
  ];
  for (const step of steps) {
    if (step.kind === 'file')
      lines.push(`mkdir -p "$(dirname '${step.name}')"`, `cp .files/${step.line} '${step.name}'`);
    if (step.kind === 'script' || step.kind === 'session') {
      const input = step.kind === 'session' ? `.files/${step.line}.typed` : '/dev/null';
      lines.push(
        'codes=() failed=()',
        `source .files/${step.line} < ${input} > .out/${step.line} 2>&1`,
        // Bash runs no trap for a command in an `&&` list, or for a block that it cannot parse.
        `last=$?; [ $last = 0 ] || [ \${#codes[@]} -gt 0 ] || { codes+=($last); failed+=("the last command"); }`,
        `printf '%s\\t%s\\t%s\\n' ${step.line} "\${codes[*]}" "\${failed[*]//[$'\\n\\t']/ }" >> .results`,
      );
    }
  }
  return `${lines.join('\n')}\nexit 0\n`;
};

const runPage = async (steps: readonly PageStep[]): Promise<readonly string[]> => {
  await using directory = await temporaryDirectory();
  await prepareCheckout(directory.path);
  const inside = (name: string): string => join(directory.path, name);
  // With the limit on requests that readers have.
  await using server = await openEmbeddedServer({ ANIMA_RATE_LIMIT: '100/60' });
  await symlink(server.dataDir, inside('.anima'));
  const here = (text: string): string => text.replaceAll('http://127.0.0.1:8080', server.url);
  await mkdir(inside('.files'));
  for (const step of steps) {
    if (step.kind === 'file') await writeFile(inside(`.files/${step.line}`), here(step.content));
    if (step.kind === 'script') await writeFile(inside(`.files/${step.line}`), here(step.script));
    if (step.kind === 'session') {
      await writeFile(inside(`.files/${step.line}`), here(step.command));
      await writeFile(inside(`.files/${step.line}.typed`), step.typed.map((line) => `${line}\n`).join(''));
    }
  }
  await writeFile(inside('.driver'), driverOf(steps));
  const { ANIMA_API_KEY: _key, ...environment } = process.env;
  const shell = spawn('bash', ['.driver'], {
    cwd: directory.path,
    detached: true,
    stdio: 'ignore',
    env: {
      ...environment,
      PATH_WITHOUT_PAGE: process.env['PATH'] ?? '',
      PATH: `${inside('.bin')}:${process.env['PATH'] ?? ''}`,
      ANIMA_URL: server.url,
      NO_COLOR: '1',
    },
  });
  const timer = setTimeout(() => shell.kill('SIGKILL'), PAGE_MS);
  await once(shell, 'exit');
  clearTimeout(timer);
  // What the page left in the background ends with it.
  if (shell.pid !== undefined) {
    try {
      process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // Nothing is left.
    }
  }
  const results = (await readFile(inside('.results'), 'utf8')).split('\n').filter((line) => line !== '');
  const problems: string[] = [];
  for (const result of results) {
    const [line = '', code = '', failed = ''] = result.split('\t');
    const step = steps.find((candidate) => candidate.line === Number(line));
    if (step?.kind !== 'script' && step?.kind !== 'session') continue;
    const output = await readFile(inside(`.out/${line}`), 'utf8');
    // One command may fail, and only as the page says.
    if (code !== (step.exit === 0 ? '' : String(step.exit)))
      problems.push(`line ${line}: exit codes "${code}" at "${failed}"\n${output}`);
    const missing = step.kind === 'session' ? firstMissing(output, step.shown.map(here)) : null;
    if (missing !== null) problems.push(`line ${line}: the output lacks, in this order\n${missing}\nin\n${output}`);
  }
  const expected = steps.filter(({ kind }) => kind === 'script' || kind === 'session').length;
  if (results.length !== expected) problems.push(`${results.length} of ${expected} blocks ended`);
  return problems;
};

const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
/** The first shown line that the output does not have after the lines before it; the parts around `…` are looked for one after another. */
const firstMissing = (output: string, shown: readonly string[]): string | null => {
  const text = squeezed(output);
  let from = 0;
  for (const line of shown)
    for (const part of line.split('…').map(squeezed)) {
      const found = text.indexOf(part, from);
      if (found < 0) return line;
      from = found + part.length;
    }
  return null;
};

describe('the commands on pages', () => {
  it('are found', () => {
    expect(runnable.length).toBeGreaterThan(5);
    expect(dirname(runnable[0]?.page ?? '')).toBe('.');
  });

  it('fail the page if one of them fails, wherever it is in its block', async () => {
    const blocks = [
      'false && true',
      'ls /nowhere; true',
      'if true; then',
      'echo "',
      'curl -s http://127.0.0.1:8080/nowhere',
    ];
    const page = blocks.map((block) => `\`\`\`sh\n${block}\n\`\`\``).join('\n\n');
    const shown = '```console\n$ echo one two\ntwo\none\n```';
    expect((await runPage(stepsOf(`${page}\n\n${shown}`))).length).toBe(blocks.length + 1);
  });

  it.each(runnable)('work as written: $page', async ({ steps }) => {
    expect(await runPage(steps)).toEqual([]);
  });
});
