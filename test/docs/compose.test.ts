import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { parseConfig } from '../../src/config/config.js';
import { roles } from '../../src/config/settings/distributed-settings.js';

type Service = {
  readonly image?: string;
  readonly build?: string;
  readonly pull_policy?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly command?: readonly string[];
  readonly restart?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly configs?: Readonly<Record<string, { readonly content: string }>>;
};

/** The image that is made here, and not fetched. */
const OURS = 'anima';
const isOurs = ({ image, build }: Service): boolean => build !== undefined || image === OURS;

const repository = resolve(import.meta.dirname, '../..');
const textOf = (name: string): string => readFileSync(join(repository, name), 'utf8');
const read = (name: string): Compose => parse(textOf(name), { merge: true, uniqueKeys: true }) as Compose;

/** As Compose fills in `${NAME}`, `${NAME:-default}` and `${NAME:?what to do}`. */
const filledIn = (text: string, env: Readonly<Record<string, string>>): string =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string | undefined, words = '') => {
    const value = env[name] ?? '';
    if (value === '' && kind === '?') throw new Error(`${name}: ${String(words)}`);
    return value === '' ? String(words) : value;
  });
const settingsOf = ({ environment = {} }: Service, env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filledIn(value, env)]));

const secrets = { ANIMA_SECRET: 'a'.repeat(64), POSTGRES_PASSWORD: 'b'.repeat(32) };
const files = ['docker-compose.yml', 'docker-compose.embedded.yml'];

describe.each(files)('%s', (name) => {
  const { services, volumes = {} } = read(name);
  const entries = Object.entries(services);
  const isChecked = (service: Service): boolean =>
    service.healthcheck === undefined
      ? isOurs(service) && /^HEALTHCHECK /m.test(textOf('Dockerfile'))
      : service.healthcheck.test !== undefined;

  it('names a version of each image that is not made here, and gives environments in texts', () => {
    for (const [service, spec] of entries) {
      if (!isOurs(spec)) expect(spec.image, service).toMatch(/^[a-z][a-z/-]*:[\w.-]+$/);
      for (const value of Object.values(spec.environment ?? {})) expect(value, service).toBeTypeOf('string');
    }
  });

  it('starts a service only behind services of which it can be told whether they are healthy or done', () => {
    for (const [service, { depends_on: needs = {} }] of entries) {
      for (const [needed, { condition }] of Object.entries(needs)) {
        const other = services[needed] ?? {};
        const possible =
          condition === 'service_healthy'
            ? isChecked(other)
            : condition === 'service_completed_successfully' && other.restart === 'on-failure';
        expect(possible, `${service} behind ${needed}`).toBe(true);
      }
    }
  });

  it('makes exactly the volumes that are used', () => {
    const used = entries.flatMap(([, spec]) => spec.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    expect(Object.keys(volumes).sort()).toEqual([...new Set(used)].sort());
  });

  it('makes our image once, and never looks for it in a registry', () => {
    expect(entries.filter(([, { build }]) => build !== undefined)).toHaveLength(1);
    for (const [service, spec] of entries.filter(([, { image }]) => image === OURS))
      expect(spec.pull_policy, service).toBe('never');
  });

  it('runs our image with files that it cannot change, but for its volumes and /tmp', () => {
    for (const [service, { read_only, tmpfs }] of entries.filter(([, spec]) => isOurs(spec)))
      expect([read_only, tmpfs], service).toEqual([true, ['/tmp']]);
  });

  it('publishes nothing beyond this machine', () => {
    for (const port of entries.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:/);
  });
});

describe('the image', () => {
  it('runs as a user without rights, and makes no volume that nobody named', () => {
    const dockerfile = textOf('Dockerfile');
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).not.toMatch(/^VOLUME/m);
  });
});

describe('the distributed architecture in docker-compose.yml', () => {
  const { services } = read('docker-compose.yml');
  const ours = Object.entries(services).filter(([, service]) => isOurs(service));

  it('gives every process of ours settings that it starts with, and every role to one of them', () => {
    const found = ours.map(([name, service]) => {
      const { distributed, secret } = parseConfig(settingsOf(service, secrets), '/app');
      expect(secret, name).toBe(secrets.ANIMA_SECRET);
      return name === 'bootstrap' ? [] : [...(distributed?.roles ?? [])];
    });
    expect(found.flat().sort()).toEqual([...roles].sort());
    for (const [, { environment, command }] of ours.filter(([name]) => name !== 'bootstrap')) {
      expect([environment?.['ANIMA_ROLES'], command]).toEqual([expect.any(String), undefined]);
    }
  });

  it('runs turns in as many workflows as its environment says', () => {
    for (const [name, service] of ours) {
      const shardsWith = (env: Readonly<Record<string, string>>) =>
        parseConfig(settingsOf(service, { ...secrets, ...env }), '/app').distributed?.turnShards;
      const unset = parseConfig({ ...settingsOf(service, secrets), ANIMA_TURN_SHARDS: '' }, '/app').distributed;
      expect(shardsWith({}), name).toBe(unset?.turnShards);
      expect(shardsWith({ ANIMA_TURN_SHARDS: '5' }), name).toBe(5);
    }
  });

  it('names servers that are there', () => {
    for (const [name, service] of ours) {
      const { distributed } = parseConfig(settingsOf(service, secrets), '/app');
      if (distributed === null) throw new Error(`${name} is not of the distributed profile`);
      const { eventStoreUrl, databaseUrl, temporalAddress, kafkaBrokers } = distributed;
      const hosts = [
        ...[eventStoreUrl, databaseUrl].map((url) => new URL(url).hostname),
        ...[temporalAddress, ...kafkaBrokers].map((address) => address.split(':')[0] ?? ''),
      ];
      expect(
        hosts.filter((host) => services[host]?.image === undefined),
        name,
      ).toEqual([]);
    }
  });

  it.each(Object.keys(secrets))('holds no %s and does not start without one', (missing) => {
    const others = Object.fromEntries(Object.entries(secrets).filter(([name]) => name !== missing));
    for (const [, service] of ours) expect(() => settingsOf(service, others)).toThrow(`${missing}: set it to`);
  });

  it('lets Prometheus look for every role', () => {
    const { configs = {} } = read('docker-compose.yml');
    const { scrape_configs: jobs } = parse(configs['prometheus']?.content ?? '') as {
      readonly scrape_configs: readonly { readonly dns_sd_configs: readonly { readonly names: readonly string[] }[] }[];
    };
    const names = jobs.flatMap(({ dns_sd_configs: found }) => found.flatMap((one) => one.names));
    const inRoles = ours.filter(([name]) => name !== 'bootstrap').map(([name]) => name);
    expect([...names].sort()).toEqual(inRoles.sort());
  });

  it('takes every secret from outside', () => {
    const named = Object.values(services).flatMap(({ environment = {} }) =>
      Object.entries(environment).filter(([name]) => /SECRET|PASSWORD|PWD/.test(name)),
    );
    expect(named.length).toBeGreaterThan(0);
    for (const [name, value] of named) expect(value, name).toMatch(/^\$\{\w+:\?[^}]+\}$/);
  });
});
