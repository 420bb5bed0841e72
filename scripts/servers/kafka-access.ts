import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { makeAuthority, makeCertificate } from './certificates.js';
import type { Site } from './server.js';

/** A user with all rights, and one that has none until they are granted. */
const USERS = ['anima', 'guest'] as const;
const MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

const place = (site: Site): string => join(site.directory, 'access');
const passwordOf = async (site: Site): Promise<string> =>
  (await readFile(join(place(site), 'password'), 'utf8')).trim();

/** Whether this broker was first started so that it requires authentication. */
export const isGuarded = (site: Site): boolean => existsSync(join(place(site), 'password'));

/** Makes the authority, the certificates and the password, unless they exist. */
export const guard = async (site: Site): Promise<void> => {
  if (isGuarded(site)) return;
  const directory = place(site);
  await mkdir(directory, { recursive: true });
  const authority = await makeAuthority(directory, 'authority');
  const hosts = ['DNS:localhost', 'IP:127.0.0.1'];
  const server = await makeCertificate(directory, 'server', { authority, hosts });
  await makeCertificate(directory, 'client', { authority, hosts });
  // The broker reads both from one file.
  const both = (await readFile(server.key, 'utf8')) + (await readFile(server.certificate, 'utf8'));
  await writeFile(join(directory, 'server-with-key.pem'), both, { mode: 0o600 });
  await writeFile(join(directory, 'password'), randomBytes(16).toString('hex'), { mode: 0o600 });
};

/** The arguments of `StorageTool format` for the users. */
export const scramUsers = async (site: Site): Promise<readonly string[]> => {
  const password = await passwordOf(site);
  return USERS.flatMap((name) =>
    MECHANISMS.flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=${name},password=${password}]`]),
  );
};

/** The listeners in addition to the plain one, which only this machine reaches: with a name and a password, and with a certificate. */
export const guardedListeners = (site: Site): Readonly<Record<string, string>> => ({
  SASL_SSL: `127.0.0.1:${site.ports[2] ?? 0}`,
  SSL: `127.0.0.1:${site.ports[3] ?? 0}`,
});

/** The broker's settings for these listeners. Clients of the plain one have all rights. */
export const guardedSettings = async (site: Site): Promise<Readonly<Record<string, string>>> => {
  const password = await passwordOf(site);
  const module = 'org.apache.kafka.common.security';
  const users = USERS.map((name) => `user_${name}="${password}"`).join(' ');
  const of = 'listener.name.sasl_ssl';
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': join(place(site), 'server-with-key.pem'),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': join(place(site), 'authority.pem'),
    'listener.name.ssl.ssl.client.auth': 'required',
    [`${of}.sasl.enabled.mechanisms`]: ['PLAIN', ...MECHANISMS].join(','),
    [`${of}.plain.sasl.jaas.config`]: `${module}.plain.PlainLoginModule required ${users};`,
    [`${of}.scram-sha-256.sasl.jaas.config`]: `${module}.scram.ScramLoginModule required;`,
    [`${of}.scram-sha-512.sasl.jaas.config`]: `${module}.scram.ScramLoginModule required;`,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS;User:anima;User:CN=client',
  };
};

/** The settings that clients need. */
export const guardedAddresses = async (site: Site): Promise<Readonly<Record<string, string>>> => ({
  KAFKA_BROKERS: guardedListeners(site)['SASL_SSL'] ?? '',
  KAFKA_TLS: 'on',
  KAFKA_TLS_CA_FILE: join(place(site), 'authority.pem'),
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'anima',
  KAFKA_SASL_PASSWORD_FILE: join(place(site), 'password'),
});
