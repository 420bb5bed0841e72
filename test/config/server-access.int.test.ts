import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Config, parseConfig } from '../../src/config/config.js';
import { openCertificates, tlsAccessOf } from '../support/certificates.js';
import { problemsOf } from './problems-of.js';

const servers = {
  ANIMA_PROFILE: 'distributed',
  ANIMA_SECRET: 'a secret that every server shares',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
  KAFKA_BROKERS: '127.0.0.1:9092',
  DATABASE_URL: 'postgres://anima:secret@127.0.0.1:5432/anima',
};
const HEX = '0f'.repeat(32);
const BASE64 = Buffer.alloc(32, 7).toString('base64');
const nothing = { encrypting: null, all: [] };

let certificates: Awaited<ReturnType<typeof openCertificates>>;
beforeAll(async () => {
  certificates = await openCertificates();
  await writeFile(join(certificates.path, 'empty'), ' \n');
  await writeFile(join(certificates.path, 'password'), 'from a file\n');
  await writeFile(join(certificates.path, 'keys'), `${BASE64}\n${HEX}\n`);
});
afterAll(async () => {
  await certificates[Symbol.asyncDispose]();
});

type Env = Readonly<Record<string, string>>;
/** Relative paths start at the certificates. */
const parse = (env: Env): Config => parseConfig({ ...servers, ...env }, certificates.path);
const accessOf = (env: Env) => {
  const { distributed } = parse(env);
  if (distributed === null) throw new Error('the profile is another');
  return { temporal: distributed.temporalAccess, kafka: distributed.kafkaAccess };
};
const problems = problemsOf(parse);

describe('the connection to Temporal and Kafka', () => {
  it('is plaintext and anonymous by default', () => {
    expect(accessOf({})).toEqual({
      temporal: { tls: null, apiKey: null, payloadKeys: nothing },
      kafka: { tls: null, sasl: null },
    });
    expect(accessOf({ TEMPORAL_TLS: 'off', KAFKA_TLS: 'off', KAFKA_SASL_USERNAME: '' })).toEqual(accessOf({}));
  });

  it("uses TLS with the system's authorities, or with an authority, a client certificate and a name", async () => {
    const bare = { ca: null, client: null, serverName: null };
    expect(accessOf({ TEMPORAL_TLS: 'on', KAFKA_TLS: 'on' })).toMatchObject({
      temporal: { tls: bare },
      kafka: { tls: bare },
    });
    const { authority, client } = certificates;
    const whole = await tlsAccessOf(authority, client);
    const trimmed = {
      ca: whole.ca?.trim(),
      client: { certificate: whole.client?.certificate.trim(), key: whole.client?.key.trim() },
    };
    const files = (server: string): Env => ({
      [`${server}_TLS`]: 'on',
      [`${server}_TLS_CA_FILE`]: 'authority.pem',
      [`${server}_TLS_CERT_FILE`]: client.certificate,
      [`${server}_TLS_KEY_FILE`]: client.key,
    });
    expect(
      accessOf({ ...files('TEMPORAL'), ...files('KAFKA'), TEMPORAL_TLS_SERVER_NAME: 'temporal.studio.example' }),
    ).toMatchObject({
      temporal: { tls: { ...trimmed, serverName: 'temporal.studio.example' } },
      kafka: { tls: { ...trimmed, serverName: null } },
    });
  });

  it('uses secrets from settings or from files [11.1c]', () => {
    const tls = { TEMPORAL_TLS: 'on', KAFKA_TLS: 'on' };
    const sasl = { ...tls, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'anima' };
    expect(accessOf({ ...sasl, TEMPORAL_API_KEY: 'k', KAFKA_SASL_PASSWORD: 'p' })).toMatchObject({
      temporal: { apiKey: 'k' },
      kafka: { sasl: { mechanism: 'plain', username: 'anima', password: 'p' } },
    });
    expect(accessOf({ ...sasl, KAFKA_SASL_PASSWORD_FILE: 'password' }).kafka.sasl?.password).toBe('from a file');
  });

  it('sends a password only hashed without TLS', () => {
    const sasl = { KAFKA_SASL_MECHANISM: 'scram-sha-256', KAFKA_SASL_USERNAME: 'anima', KAFKA_SASL_PASSWORD: 'p' };
    expect(accessOf(sasl).kafka).toMatchObject({ tls: null, sasl: { mechanism: 'scram-sha-256' } });
  });

  it('uses keys for payloads, of which the first encrypts unless "plain" is before it [11.1f]', () => {
    const [base64, hex] = [Buffer.alloc(32, 7), Buffer.from(HEX, 'hex')];
    const keysOf = (env: Env) => {
      const { encrypting, all } = accessOf(env).temporal.payloadKeys;
      return { encrypting: encrypting && Buffer.from(encrypting), all: all.map((key) => Buffer.from(key)) };
    };
    const both = { encrypting: base64, all: [base64, hex] };
    expect(keysOf({ TEMPORAL_PAYLOAD_KEY: HEX })).toEqual({ encrypting: hex, all: [hex] });
    expect(keysOf({ TEMPORAL_PAYLOAD_KEY: `${BASE64}, ${HEX}` })).toEqual(both);
    expect(keysOf({ TEMPORAL_PAYLOAD_KEY_FILE: 'keys' })).toEqual(both);
    const urlForm = BASE64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '');
    expect(keysOf({ TEMPORAL_PAYLOAD_KEY: `plain,${urlForm}` })).toEqual({ encrypting: null, all: [base64] });
  });
});

describe('a connection setting', () => {
  it.each<[string, Env, readonly string[]]>([
    ['is neither on nor off', { TEMPORAL_TLS: 'yes', KAFKA_TLS: '1' }, ['TEMPORAL_TLS', 'KAFKA_TLS']],
    [
      'belongs to TLS, which is off',
      { TEMPORAL_TLS_CA_FILE: 'x', TEMPORAL_TLS_SERVER_NAME: 'y', KAFKA_TLS_CERT_FILE: 'z' },
      ['TEMPORAL_TLS_CA_FILE', 'TEMPORAL_TLS_SERVER_NAME', 'KAFKA_TLS_CERT_FILE'],
    ],
    [
      'names a file that cannot be read',
      { TEMPORAL_TLS: 'on', TEMPORAL_TLS_CA_FILE: 'none', KAFKA_TLS: 'on', KAFKA_TLS_CA_FILE: 'empty' },
      ['TEMPORAL_TLS_CA_FILE', 'KAFKA_TLS_CA_FILE'],
    ],
    [
      'names a file that holds something else',
      {
        TEMPORAL_TLS: 'on',
        TEMPORAL_TLS_CA_FILE: 'password',
        TEMPORAL_TLS_CERT_FILE: 'client.key',
        TEMPORAL_TLS_KEY_FILE: 'client.pem',
      },
      ['TEMPORAL_TLS_CA_FILE', 'TEMPORAL_TLS_CERT_FILE', 'TEMPORAL_TLS_KEY_FILE'],
    ],
    [
      'is a certificate without its key',
      { KAFKA_TLS: 'on', KAFKA_TLS_CERT_FILE: 'client.pem' },
      ['KAFKA_TLS_CERT_FILE'],
    ],
    ['is a key without its certificate', { KAFKA_TLS: 'on', KAFKA_TLS_KEY_FILE: 'client.key' }, ['KAFKA_TLS_KEY_FILE']],
    [
      'is the key of another certificate',
      { KAFKA_TLS: 'on', KAFKA_TLS_CERT_FILE: 'client.pem', KAFKA_TLS_KEY_FILE: 'server.key' },
      ['KAFKA_TLS_KEY_FILE'],
    ],
    [
      'is no host name',
      { TEMPORAL_TLS: 'on', TEMPORAL_TLS_SERVER_NAME: 'https://temporal' },
      ['TEMPORAL_TLS_SERVER_NAME'],
    ],
    ['is an API key without TLS', { TEMPORAL_API_KEY: 'hush' }, ['TEMPORAL_API_KEY']],
    ['is an API key of several words', { TEMPORAL_TLS: 'on', TEMPORAL_API_KEY: 'hush hush' }, ['TEMPORAL_API_KEY']],
    [
      'is a secret that is given twice',
      { TEMPORAL_TLS: 'on', TEMPORAL_API_KEY: 'hush', TEMPORAL_API_KEY_FILE: 'password' },
      ['TEMPORAL_API_KEY'],
    ],
    [
      'is a user without a password',
      { KAFKA_SASL_MECHANISM: 'scram-sha-256', KAFKA_SASL_USERNAME: 'anima' },
      ['KAFKA_SASL_MECHANISM'],
    ],
    ['is a password without a user', { KAFKA_SASL_PASSWORD: 'hush' }, ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_PASSWORD']],
    [
      'is an unknown mechanism',
      { KAFKA_SASL_MECHANISM: 'gssapi', KAFKA_SASL_USERNAME: 'anima', KAFKA_SASL_PASSWORD: 'hush' },
      ['KAFKA_SASL_MECHANISM'],
    ],
    [
      'is a password that would travel as it is',
      { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'anima', KAFKA_SASL_PASSWORD: 'hush' },
      ['KAFKA_SASL_MECHANISM'],
    ],
    [
      'is no key for payloads',
      { TEMPORAL_PAYLOAD_KEY: `hush,${BASE64},${'hush'.repeat(11)}` },
      ['TEMPORAL_PAYLOAD_KEY', 'TEMPORAL_PAYLOAD_KEY'],
    ],
    ['is "plain" without a key', { TEMPORAL_PAYLOAD_KEY: 'plain' }, ['TEMPORAL_PAYLOAD_KEY']],
    ['is "plain" behind a key', { TEMPORAL_PAYLOAD_KEY: `${BASE64},plain` }, ['TEMPORAL_PAYLOAD_KEY']],
  ])(
    'that %s fails the start, along with all others, and no secret is shown [11.1a, 11.1c, 11.1d]',
    (_, env, named) => {
      const found = problems({ ...env, PORT: 'x' });
      expect(found.map((line) => /^\w+/.exec(line)?.[0])).toEqual([...named, 'PORT']);
      expect(found.join()).not.toContain('hush');
    },
  );
});
