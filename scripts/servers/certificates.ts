import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { run } from './tools.js';

const LIMIT_MS = 30_000;
const DAYS = 365;
const whenMissing = 'certificates are made with OpenSSL, but "openssl" is not on the PATH. Install OpenSSL 3.';

/** Files in PEM form. */
export type Certificate = { readonly certificate: string; readonly key: string };

const configOf = (name: string, extensions: readonly string[]): string =>
  [
    ...['[req]', 'distinguished_name = subject', 'x509_extensions = extensions', 'prompt = no'],
    ...['[subject]', `CN = ${name}`, '[extensions]', ...extensions],
  ].join('\n');

const make = async (
  directory: string,
  name: string,
  { extensions, more = [] }: { readonly extensions: readonly string[]; readonly more?: readonly string[] },
): Promise<Certificate> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = (ending: string): string => join(directory, `${name}.${ending}`);
  const [config, certificate, key] = [file('cnf'), file('pem'), file('key')] as const;
  await writeFile(config, configOf(name, extensions));
  await run(
    'openssl',
    [
      ...['req', '-x509', '-config', config, '-days', String(DAYS), '-keyout', key, '-out', certificate, '-nodes'],
      ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...more],
    ],
    { limitMs: LIMIT_MS, whenMissing },
  );
  return { certificate, key };
};

/** Makes an authority of that name in a directory. */
export const makeAuthority = (directory: string, name: string): Promise<Certificate> =>
  make(directory, name, { extensions: ['basicConstraints = critical, CA:TRUE', 'keyUsage = critical, keyCertSign'] });

/**
 * Makes a certificate signed by an authority, for a server or a client.
 * @param hosts the names of a server, as OpenSSL writes them: `DNS:localhost`
 */
export const makeCertificate = (
  directory: string,
  name: string,
  { authority, hosts }: { readonly authority: Certificate; readonly hosts: readonly string[] },
): Promise<Certificate> =>
  make(directory, name, {
    extensions: [
      'basicConstraints = critical, CA:FALSE',
      'extendedKeyUsage = serverAuth, clientAuth',
      `subjectAltName = ${hosts.join(', ')}`,
    ],
    more: ['-CA', authority.certificate, '-CAkey', authority.key],
  });
