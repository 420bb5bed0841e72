import { describe, expect, it } from 'vitest';

import { clientSettings } from '../../src/cli/shared/client.js';
import { parseConfig } from '../../src/config/config.js';
import { settingNames, settings } from '../../src/config/settings.js';
import { settingGroups } from '../../src/config/settings/setting.js';

type Env = Record<string, string>;

const distributed = { ANIMA_PROFILE: 'distributed' };
/** Together, these environments take every branch of the parser. */
const environments: readonly Env[] = [
  {},
  { ANIMA_EMBEDDER: 'http://127.0.0.1:1/v1', ANIMA_CORTEX_URL: 'http://127.0.0.1:1/v1' },
  { ANIMA_EMBEDDER: 'onnx:model' },
  { ANIMA_CORTEX_GGUF: 'model.gguf' },
  { ARWEAVE_BUNDLER_URL: 'http://127.0.0.1:1' },
  distributed,
  { ...distributed, TEMPORAL_TLS: 'on', KAFKA_TLS: 'on' },
];

/** The variables that a function reads. */
const readBy = (env: Env, read: (env: Env) => unknown): string[] => {
  const names: string[] = [];
  const watched = new Proxy(env, {
    get: (given, name) => {
      names.push(String(name));
      return given[String(name)];
    },
  });
  try {
    read(watched);
  } catch {
    // An incomplete environment is refused once everything is read.
  }
  return names;
};
const none = (): boolean => false;
const serverReads = new Set(
  environments.flatMap((env) => readBy(env, (watched) => parseConfig(watched, '/srv', none, () => ''))),
);

describe('the table of settings', () => {
  it('has exactly the variables that the parser reads', () => {
    const ofServer = settingNames.filter((name) => settings[name].group !== 'command line');
    expect([...serverReads].sort()).toEqual([...ofServer].sort());
  });

  it('has every variable that the command line reads', () => {
    const names = readBy({}, (env) => clientSettings({ env, cwd: '/srv' }));
    expect(settingNames).toEqual(expect.arrayContaining(names));
    expect(names).toContain('ANIMA_URL');
  });

  it('marks the variables that only the distributed profile reads', () => {
    const embedded = new Set(
      environments
        .filter((env) => !('ANIMA_PROFILE' in env))
        .flatMap((env) => readBy(env, (watched) => parseConfig(watched, '/srv', none, () => ''))),
    );
    for (const name of serverReads) {
      const { profile } = settings[name as keyof typeof settings];
      expect([name, profile]).toEqual([name, embedded.has(name) ? undefined : 'distributed']);
    }
  });

  it('has a valid default for every setting with one', () => {
    const defaults = settingNames.flatMap((name): [string, string][] => {
      const { default: text, profile } = settings[name];
      return text === null || profile !== undefined ? [] : [[name, text]];
    });
    const given = Object.fromEntries(defaults.filter(([name]) => name !== 'ANIMA_EMBEDDER_RELATED'));
    expect(parseConfig(given, '/srv')).toEqual(parseConfig({}, '/srv'));
  });

  it('describes each setting in sentences, in a known group', () => {
    for (const name of settingNames) {
      const { about, group, min, max } = settings[name];
      expect([name, about]).toEqual([name, expect.stringMatching(/^[^a-z].*\.$/)]);
      expect(settingGroups).toContain(group);
      expect([name, (min ?? 0) <= (max ?? 0)]).toEqual([name, true]);
    }
  });
});
