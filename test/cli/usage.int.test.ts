import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';

import { beforeAll, describe, expect, it } from 'vitest';

import type { Command } from 'commander';

import { buildProgram } from '../../src/cli/program.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { typed } from './typed.js';

const commands = [
  ['serve'],
  ['demo'],
  ['keys', 'issue'],
  ['keys', 'list'],
  ['keys', 'revoke'],
  ['keys', 'bootstrap'],
  ['keys', 'recover'],
  ['history'],
  ['changes'],
  ['turns'],
  ['chain'],
  ['rebuild'],
  ['reembed'],
  ['why'],
  ['search'],
  ['activity'],
  ['memories'],
  ['lineage'],
  ['retract'],
  ['retractions'],
  ['coverage'],
  ['soul', 'import'],
  ['soul', 'verify'],
  ['soul', 'inspect'],
  ['card', 'import'],
  ['level', 'put'],
  ['level', 'list'],
  ['ghost', 'run'],
  ['ghost', 'status'],
  ['ghost', 'results'],
  ['ghost', 'history'],
  ['ghost', 'repro'],
  ['ghost', 'replay'],
  ['ghost', 'compare'],
  ['replay'],
  ['trial'],
  ['audit'],
  ['checkpoint'],
  ['log', 'restart'],
  ['verify'],
];
/** An address without a server: a port that was free a moment ago. */
const nobody = { ANIMA_URL: '', ANIMA_API_KEY: 'am_live_x' };
beforeAll(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  nobody.ANIMA_URL = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  server.close();
});
const oneSentence = /^[A-Z][^\n]*\.\n$/;

describe('every command', () => {
  it.each(commands.map((words) => [words.join(' '), words] as const))(
    'anima %s has --help and --json [11.5b]',
    async (_, words) => {
      const { code, stdout, stderr } = await typed([...words, '--help']);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`Usage: anima ${words.join(' ')}`);
      expect(stdout).toContain('--json');
    },
  );

  it('has --help, and --json if it prints a result [11.5b]', async () => {
    const { stdout, stderr } = process;
    const namesOf = (command: Command): readonly string[] =>
      command.commands.length === 0
        ? ['']
        : command.commands.flatMap((below) => namesOf(below).map((name) => `${below.name()} ${name}`.trim()));
    const all = namesOf(buildProgram({ env: {}, cwd: '/', stdin: process.stdin, stdout, stderr }));
    const without: string[] = [];
    for (const name of all) {
      const help = await typed([...name.split(' '), '--help']);
      expect([name, help.code, help.stderr]).toEqual([name, 0, '']);
      if (!help.stdout.includes('--json')) without.push(name);
    }
    expect(all).toEqual(expect.arrayContaining(commands.map((words) => words.join(' '))));
    expect(without.toSorted()).toEqual([
      ...[
        'bundle',
        'card export',
        'ghost picture',
        'level delete',
        'rules bind',
        'rules delete',
        'rules show',
        'soul export',
      ],
    ]);
  });

  it('is listed by anima --help, with the exit codes and the address of the server [11.5a, 11.5c]', async () => {
    const { code, stdout } = await typed(['--help']);
    expect(code).toBe(0);
    for (const word of [
      'serve',
      'demo',
      'keys',
      'history',
      'turns',
      'chain',
      'rebuild',
      'reembed',
      'ANIMA_URL',
      '(default: http://127.0.0.1:8080)',
      'ANIMA_API_KEY',
      'Exit codes:',
      '  2  wrong usage',
    ]) {
      expect(stdout).toContain(word);
    }
  });
});

describe('anima --version', () => {
  it('prints only the version of the package [11.5b]', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await typed(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('wrong usage', () => {
  it.each([
    ['an unknown command', ['fly']],
    ['an unknown command of a group', ['keys', 'fly']],
    ['an unknown option', ['keys', 'list', '--loud']],
    ['a missing argument', ['history']],
    ['an argument too many', ['keys', 'revoke', 'one', 'two']],
    ['an option without its value', ['keys', 'issue', 'game', '--scopes']],
    ['a limit that is none', ['keys', 'issue', 'game', '--rate-limit', 'fast']],
    ['a revision that is none', ['history', 'guard', '--from', '-1']],
    ['a page of no events', ['history', 'guard', '--limit', '0']],
    ['a state that no turn has', ['turns', 'guard', '--state', 'open']],
    ['a list of no turns', ['turns', 'guard', '--limit', '0']],
    ['no command at all', []],
    ['no command of a group', ['keys']],
  ])('%s ends with 2 and names the problem [11.5c]', async (_, words) => {
    const { code, stdout, stderr } = await typed(words, { env: nobody });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/error:|Usage:/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('of --inference lists the possible values', async () => {
    const { code, stderr } = await typed(['demo', '--inference', 'foo'], { env: nobody });
    expect(code).toBe(2);
    expect(stderr).toContain('It must be "scripted", or a URL such as http://127.0.0.1:11434/v1.');
  });
});

describe('a failing command', () => {
  it('ends with 1 without a server and prints the address it tried [11.5a, 11.5c]', async () => {
    const { code, stdout, stderr } = await typed(['keys', 'list'], { env: nobody });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(oneSentence);
    expect(stderr).toContain(nobody.ANIMA_URL);
  });

  it('ends with 1 without a key and prints how to give one [11.5a, 11.5c]', async () => {
    const { code, stderr } = await typed(['history', 'guard'], { env: { ANIMA_URL: nobody.ANIMA_URL } });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^No API key: set ANIMA_API_KEY, .*There is no data directory at \/nonexistent\/\.anima\. Set ANIMA_DATA_DIR to the server's data directory\.\n$/,
    );
  });

  it('shows what an address looks like when it is invalid [11.5c]', async () => {
    for (const url of ['localhost', 'ftp://host', 'http://']) {
      const { code, stderr } = await typed(['keys', 'list'], { env: { ANIMA_URL: url, ANIMA_API_KEY: 'x' } });
      expect(code).toBe(2);
      expect(stderr).toBe(`ANIMA_URL must be an address such as http://127.0.0.1:8080, not "${url}".\n`);
    }
  });

  it('refuses filters of coverage that a replay fixes [11.5c]', async () => {
    for (const more of [
      ['--npc', 'mira'],
      ['--since', '7d'],
      ['--version', '1'],
    ]) {
      const { code, stderr } = await typed(['coverage', 'default', '--replay', 'r1', ...more], { env: nobody });
      expect([code, stderr]).toEqual([2, '--replay cannot be combined with --since, --until, --npc or --version.\n']);
    }
  });

  it('prints a JSON error on stderr with --json', async () => {
    const { code, stderr } = await typed(['keys', 'list', '--json'], { env: nobody });
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toEqual({ error: { message: expect.stringContaining('No server answers') } });
  });

  it('names every invalid setting', async () => {
    await using directory = await temporaryDirectory();
    const { code, stderr } = await typed(['rebuild'], {
      env: { PORT: 'eighty', LOG_LEVEL: 'loud' },
      cwd: directory.path,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/PORT/);
    expect(stderr).toMatch(/LOG_LEVEL/);
  });

  it('explains that the embedded profile needs no bootstrap', async () => {
    const { code, stderr } = await typed(['keys', 'bootstrap']);
    expect(code).toBe(1);
    expect(stderr).toContain('first start');
    expect((await typed(['keys', 'bootstrap'], { env: { ANIMA_PROFILE: 'distributed' } })).stderr).toContain(
      'EVENTSTORE_URL',
    );
  });
});
