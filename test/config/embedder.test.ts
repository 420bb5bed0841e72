import { describe, expect, it } from 'vitest';

import { parseConfig } from '../../src/config/config.js';
import { filesOf, problemsOf } from './problems-of.js';

const folder = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'onnx/model_quantized.onnx'];
const { isThere, read } = filesOf({
  '/run/secrets/embedder': 'sk-from-a-file\n',
  ...Object.fromEntries(folder.map((name) => [`/srv/models/small/${name}`, ''])),
});
const parse = (env: Record<string, string>) => parseConfig(env, '/srv', isThere, read).embedder;
const problems = problemsOf(parse);
const api = { ANIMA_EMBEDDER: 'http://127.0.0.1:8081/v1', ANIMA_EMBEDDER_MODEL: 'nomic-embed-text' };

describe('the settings of the embedder', () => {
  it('default to the built-in one', () => {
    expect(parse({})).toEqual({ kind: 'builtin' });
    expect(parse({ ANIMA_EMBEDDER: 'builtin' })).toEqual({ kind: 'builtin' });
  });

  it('may name a folder that contains the model', () => {
    expect(parse({ ANIMA_EMBEDDER: 'onnx:models/small', ANIMA_EMBEDDER_RELATED: '0.55' })).toEqual({
      kind: 'onnx',
      folder: '/srv/models/small',
      file: 'onnx/model_quantized.onnx',
      related: 0.55,
    });
  });

  it('set the number of threads of a local model', () => {
    const threads = { ANIMA_EMBEDDER_THREADS: '4' };
    expect(parse(threads)).toEqual({ kind: 'builtin', threads: 4 });
    expect(parse({ ...threads, ANIMA_EMBEDDER: 'onnx:models/small' })).toMatchObject({ kind: 'onnx', threads: 4 });
    expect(problems({ ...threads, ...api })).toEqual([
      'ANIMA_EMBEDDER_THREADS: this embedder runs on another server. Remove the variable.',
    ]);
    expect(problems({ ANIMA_EMBEDDER_THREADS: '0' })).toEqual([
      'ANIMA_EMBEDDER_THREADS must be a number from 1 to 64, not "0".',
    ]);
  });

  it('may name a server, with a model and a key', () => {
    expect(parse({ ...api, ANIMA_EMBEDDER_KEY: 'sk-1' })).toEqual({
      kind: 'api',
      url: 'http://127.0.0.1:8081/v1',
      model: 'nomic-embed-text',
      key: 'sk-1',
      related: 0.4,
    });
    const fromFile = {
      ...api,
      ANIMA_EMBEDDER: 'https://api.example/x/v1/',
      ANIMA_EMBEDDER_KEY_FILE: '/run/secrets/embedder',
    };
    expect(parse(fromFile)).toMatchObject({ url: 'https://api.example/x/v1', key: 'sk-from-a-file' });
    expect(parse(api)).toMatchObject({ key: null });
  });

  it('are refused with all problems together, without any key or password', () => {
    expect(problems({ ANIMA_EMBEDDER: 'onnx:models/none', ANIMA_EMBEDDER_MODEL: 'm' })).toEqual([
      'ANIMA_EMBEDDER_MODEL requires ANIMA_EMBEDDER to be a URL ending in /v1.',
      'ANIMA_EMBEDDER names /srv/models/none, which has no file config.json.',
      'ANIMA_EMBEDDER names /srv/models/none, which has no file tokenizer.json.',
      'ANIMA_EMBEDDER names /srv/models/none, which has no file tokenizer_config.json.',
      expect.stringContaining('which contains no model: none of onnx/model.onnx'),
    ]);
    expect(
      problems({ ANIMA_EMBEDDER: api.ANIMA_EMBEDDER, ANIMA_EMBEDDER_KEY: 'two words', ANIMA_EMBEDDER_RELATED: '1' }),
    ).toEqual([
      'ANIMA_EMBEDDER is a URL, so it also requires ANIMA_EMBEDDER_MODEL, the name of the model.',
      'ANIMA_EMBEDDER_KEY must consist of visible ASCII characters without spaces.',
      'ANIMA_EMBEDDER_RELATED must be a number above 0 and below 1, for example 0.4, not "1".',
    ]);
    expect(problems({ ...api, ANIMA_EMBEDDER_MODEL: 'two words' })[0]).toContain(
      'ANIMA_EMBEDDER_MODEL must be 1 to 128 visible',
    );
    expect(problems({ ...api, ANIMA_EMBEDDER_KEY: 'k', ANIMA_EMBEDDER_KEY_FILE: '/run/secrets/embedder' })).toEqual([
      'ANIMA_EMBEDDER_KEY and ANIMA_EMBEDDER_KEY_FILE are both set. Keep only one of them.',
    ]);
    expect(problems({ ANIMA_EMBEDDER_RELATED: '0.4' })).toEqual([
      'ANIMA_EMBEDDER_RELATED: the built-in embedder does not use it. Remove the variable.',
    ]);
    for (const value of [
      'https://user:hush@api.example/v1',
      'https://api.example/v1?key=hush',
      'hush@api',
      'onnx:',
      'best',
    ]) {
      const [problem] = problems({ ANIMA_EMBEDDER: value });
      expect(problem).toMatch(/^ANIMA_EMBEDDER must be "builtin", "onnx:" followed by a folder, or /);
      expect(problem).not.toContain('hush');
    }
  });
});
