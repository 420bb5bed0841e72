import { describe, expect, it } from 'vitest';

import { parseConfig } from '../../src/config/config.js';
import { filesOf, problemsOf } from './problems-of.js';

const FILES: Readonly<Record<string, string>> = { '/srv/model.gguf': '', '/run/key': 'sk-file\n', '/run/empty': ' ' };

const { isThere, read } = filesOf(FILES);
const parse = (env: Record<string, string>) => parseConfig(env, '/srv', isThere, read).cortex;
const problems = problemsOf(parse);

const url = 'http://127.0.0.1:11434/v1';
const server = { ANIMA_CORTEX_URL: url, ANIMA_CORTEX_MODEL: 'llama3.1:8b' };

describe('the settings of the default engine', () => {
  it('select the scripted one, a model server, or a model file', () => {
    expect(parse({})).toEqual({ kind: 'scripted' });
    expect(parse(server)).toEqual({ kind: 'openai', url, model: 'llama3.1:8b', key: null });
    expect(parse({ ...server, ANIMA_CORTEX_URL: `${url}/`, ANIMA_CORTEX_KEY: 'sk-1' })).toMatchObject({
      url,
      key: 'sk-1',
    });
    expect(parse({ ...server, ANIMA_CORTEX_KEY_FILE: '/run/key' })).toMatchObject({ key: 'sk-file' });
    expect(parse({ ANIMA_CORTEX_GGUF: 'model.gguf' })).toEqual({ kind: 'llama', file: '/srv/model.gguf' });
    const sized = { ANIMA_CORTEX_GGUF: 'model.gguf', ANIMA_CORTEX_THREADS: '4', ANIMA_CORTEX_CONTEXT_TOKENS: '8192' };
    expect(parse(sized)).toEqual({ kind: 'llama', file: '/srv/model.gguf', threads: 4, contextTokens: 8192 });
  });

  it('set what turns ask for, and more members of each request [6.6d, 6.6e]', () => {
    const inTurns = { maxTokens: 4000, temperature: 0.25 };
    const numbers = { ANIMA_CORTEX_MAX_TOKENS: '4000', ANIMA_CORTEX_TEMPERATURE: '0.25' };
    const extra = '{"reasoning_effort": "low", "__proto__": 1}';
    expect(parse({ ...server, ...numbers, ANIMA_CORTEX_EXTRA: extra })).toMatchObject({
      inTurns,
      extra: JSON.parse(extra) as object,
    });
    expect(parse({ ANIMA_CORTEX_GGUF: 'model.gguf', ...numbers })).toMatchObject({ inTurns });
  });

  it('say how many tokens the model of a server takes [13.1a]', () => {
    expect(parse({ ...server, ANIMA_CORTEX_CONTEXT_TOKENS: '4096' })).toMatchObject({ contextTokens: 4_096 });
    expect(problems({ ANIMA_CORTEX_CONTEXT_TOKENS: '4096' })).toEqual([
      expect.stringMatching(/^ANIMA_CORTEX_CONTEXT_TOKENS also requires ANIMA_CORTEX_URL or ANIMA_CORTEX_GGUF/),
    ]);
  });

  it.each(['[]', '{', '{"stream": true}', '{"model": "other hidden"}', `{"a": "${'x'.repeat(4_096)}"}`])(
    'fail the start with members that are none, or that the server sends itself: %#',
    (extra) => {
      expect(problems({ ...server, ANIMA_CORTEX_EXTRA: extra })).toEqual([
        expect.stringMatching(/^ANIMA_CORTEX_EXTRA must be a JSON object .* not this value/),
      ]);
    },
  );

  it.each([
    [
      'numbers alone',
      { ANIMA_CORTEX_MAX_TOKENS: '90', ANIMA_CORTEX_TEMPERATURE: '1' },
      [/also requires/, /also requires/],
    ],
    ['members alone', { ANIMA_CORTEX_EXTRA: '{}' }, [/^ANIMA_CORTEX_EXTRA also requires ANIMA_CORTEX_URL/]],
    [
      'numbers out of range',
      { ...server, ANIMA_CORTEX_MAX_TOKENS: '1', ANIMA_CORTEX_TEMPERATURE: '3' },
      [/^ANIMA_CORTEX_MAX_TOKENS must be/, /^ANIMA_CORTEX_TEMPERATURE must be a number from 0 to 2/],
    ],
    ['not a URL', { ...server, ANIMA_CORTEX_URL: 'somewhere' }, [/^ANIMA_CORTEX_URL must/]],
    ['another protocol', { ...server, ANIMA_CORTEX_URL: 'ftp://a/v1' }, [/^ANIMA_CORTEX_URL must/]],
    ['no /v1', { ...server, ANIMA_CORTEX_URL: 'http://a/api' }, [/^ANIMA_CORTEX_URL must/]],
    ['a password', { ...server, ANIMA_CORTEX_URL: 'http://me:hidden@a/v1' }, [/^ANIMA_CORTEX_URL must/]],
    ['a query', { ...server, ANIMA_CORTEX_URL: 'http://a/v1?key=hidden' }, [/^ANIMA_CORTEX_URL must/]],
    ['no model', { ANIMA_CORTEX_URL: url }, [/^ANIMA_CORTEX_URL also requires ANIMA_CORTEX_MODEL/]],
    ['a model alone', { ANIMA_CORTEX_MODEL: 'm' }, [/^ANIMA_CORTEX_MODEL also requires ANIMA_CORTEX_URL/]],
    ['a key alone', { ANIMA_CORTEX_KEY: 'hidden' }, [/^ANIMA_CORTEX_KEY also requires/]],
    ['two keys', { ...server, ANIMA_CORTEX_KEY: 'hidden', ANIMA_CORTEX_KEY_FILE: '/run/key' }, [/both set/]],
    [
      'a key of two words',
      { ...server, ANIMA_CORTEX_KEY: 'hidden hidden' },
      [/^ANIMA_CORTEX_KEY must consist of visible/],
    ],
    ['a key file that is empty', { ...server, ANIMA_CORTEX_KEY_FILE: '/run/empty' }, [/which is empty/]],
    ['a key file that is not there', { ...server, ANIMA_CORTEX_KEY_FILE: '/run/no' }, [/ENOENT/]],
    [
      'two engines',
      { ...server, ANIMA_CORTEX_GGUF: 'model.gguf' },
      [/^ANIMA_CORTEX_URL and ANIMA_CORTEX_GGUF are both/],
    ],
    ['no such file', { ANIMA_CORTEX_GGUF: 'other.gguf' }, [/\/srv\/other\.gguf, but that file does not exist/]],
    ['threads alone', { ANIMA_CORTEX_THREADS: '4' }, [/^ANIMA_CORTEX_THREADS also requires ANIMA_CORTEX_GGUF/]],
    [
      'no threads, and hardly a context',
      { ANIMA_CORTEX_GGUF: 'model.gguf', ANIMA_CORTEX_THREADS: '0', ANIMA_CORTEX_CONTEXT_TOKENS: '100' },
      [/^ANIMA_CORTEX_THREADS must be/, /^ANIMA_CORTEX_CONTEXT_TOKENS must be/],
    ],
    [
      'several at once',
      { ANIMA_CORTEX_URL: 'x', ANIMA_CORTEX_GGUF: 'y', ANIMA_CORTEX_KEY: 'a b' },
      [/both set/, /without spaces/, /must be an http/, /also requires ANIMA_CORTEX_MODEL/, /does not exist/],
    ],
  ])('fail the start: %s', (_, env, expected) => {
    const told = problems(env);
    expect(told).toHaveLength(expected.length);
    for (const [place, pattern] of expected.entries()) expect(told[place]).toMatch(pattern);
    expect(told.join()).not.toContain('hidden');
  });
});
