import { createPrivateKey, X509Certificate } from 'node:crypto';

import {
  type KafkaAccess,
  type PayloadKeys,
  type SaslAccess,
  saslMechanisms,
  type TemporalAccess,
  type TlsAccess,
} from '../ports/server-access.js';

/** What reading these settings needs; `problems` takes a sentence for each that is wrong, and none shows a secret. */
export type AccessSource = {
  /** A setting without the white space around it, null when it is absent or empty. */
  readonly text: (name: string) => string | null;
  readonly oneOf: <T extends string>(name: string, words: readonly T[], fallback: T) => T;
  /** The absolute form of a path. */
  readonly path: (file: string) => string;
  /** The content of a file. @throws NodeJS.ErrnoException */
  readonly read: (file: string) => string;
  readonly problems: string[];
};

/** AES-256. */
const PAYLOAD_KEY_BYTES = 32;
/** In place of the first payload key: keys that only decrypt follow. */
const PLAIN = 'plain';

const hostName = /^[A-Za-z0-9_.-]{1,253}$/;
/** What may stand in a header of HTTP. */
const oneWord = /^[\x21-\x7e]+$/;
const certificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** How to connect to Temporal. */
export const readTemporalAccess = (source: AccessSource): TemporalAccess => {
  const tls = tlsAccess(source, 'TEMPORAL');
  const apiKey = secretSetting(source, 'TEMPORAL_API_KEY');
  const { problems, text } = source;
  if (apiKey !== null && !oneWord.test(apiKey)) {
    problems.push('TEMPORAL_API_KEY must be one word of visible ASCII characters.');
  }
  if (isOff(source, 'TEMPORAL') && (text('TEMPORAL_API_KEY') ?? text('TEMPORAL_API_KEY_FILE')) !== null) {
    problems.push('TEMPORAL_API_KEY needs TEMPORAL_TLS=on: without TLS anyone on the way could read it.');
  }
  return { tls, apiKey, payloadKeys: payloadKeys(source) };
};

/** How to connect to Kafka. */
export const readKafkaAccess = (source: AccessSource): KafkaAccess => ({
  tls: tlsAccess(source, 'KAFKA'),
  sasl: saslAccess(source),
});

const isOff = ({ text }: AccessSource, server: string): boolean => text(`${server}_TLS`) !== 'on';

const tlsAccess = (source: AccessSource, server: 'TEMPORAL' | 'KAFKA'): TlsAccess | null => {
  const { text, oneOf, problems } = source;
  const name = `${server}_TLS`;
  const [caFile, certificateFile, keyFile] = [`${name}_CA_FILE`, `${name}_CERT_FILE`, `${name}_KEY_FILE`] as const;
  // Brokers are many, each with the name in its address.
  const serverNameSetting = server === 'TEMPORAL' ? `${name}_SERVER_NAME` : null;
  const on = oneOf(name, ['off', 'on'], 'off') === 'on';
  const given = [caFile, certificateFile, keyFile, serverNameSetting].filter((each) => each !== null && text(each));
  if (!on) {
    for (const each of given) problems.push(`${each ?? ''} needs ${name}=on.`);
    return null;
  }
  const serverName = serverNameSetting === null ? null : text(serverNameSetting);
  if (serverName !== null && !hostName.test(serverName)) {
    problems.push(`${serverNameSetting ?? ''} must be a host name, not ${JSON.stringify(serverName)}.`);
  }
  const ca = fileOf(source, caFile);
  if (ca !== null && !isCertificates(ca)) problems.push(`${caFile} must name a file with certificates in PEM form.`);
  return { ca, client: clientCertificate(source, certificateFile, keyFile), serverName };
};

const clientCertificate = (source: AccessSource, certificateFile: string, keyFile: string): TlsAccess['client'] => {
  const { text, problems } = source;
  if (text(certificateFile) === null && text(keyFile) === null) return null;
  if (text(keyFile) === null) problems.push(`${certificateFile} needs ${keyFile} as well.`);
  if (text(certificateFile) === null) problems.push(`${keyFile} needs ${certificateFile} as well.`);
  const certificate = fileOf(source, certificateFile);
  const key = fileOf(source, keyFile);
  const isCertificate = certificate !== null && isCertificates(certificate);
  const isKey = key !== null && isPrivateKey(key);
  if (certificate !== null && !isCertificate) {
    problems.push(`${certificateFile} must name a file with a certificate in PEM form.`);
  }
  if (key !== null && !isKey) {
    problems.push(`${keyFile} must name a file with a private key in PEM form, without a password.`);
  }
  if (!isCertificate || !isKey) return null;
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    problems.push(`${keyFile} does not hold the key of the certificate in ${certificateFile}.`);
  }
  return { certificate, key };
};

const saslAccess = (source: AccessSource): SaslAccess | null => {
  const { text, oneOf, problems } = source;
  const [mechanismName, usernameName, passwordName] = [
    'KAFKA_SASL_MECHANISM',
    'KAFKA_SASL_USERNAME',
    'KAFKA_SASL_PASSWORD',
  ] as const;
  const mechanism = oneOf<SaslAccess['mechanism'] | ''>(mechanismName, saslMechanisms, '');
  const username = text(usernameName);
  const password = secretSetting(source, passwordName);
  const given = {
    [mechanismName]: text(mechanismName) !== null,
    [usernameName]: username !== null,
    [passwordName]: (text(passwordName) ?? text(`${passwordName}_FILE`)) !== null,
  };
  const missing = Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? [] : [name]));
  if (missing.length === 3) return null;
  for (const name of missing) {
    const one = Object.entries(given).find(([, isGiven]) => isGiven)?.[0] ?? '';
    problems.push(`${one} needs ${name} as well.`);
  }
  if (mechanism === 'plain' && isOff(source, 'KAFKA')) {
    problems.push(`${mechanismName}=plain needs KAFKA_TLS=on: without TLS anyone on the way could read the password.`);
  }
  return mechanism === '' || username === null || password === null ? null : { mechanism, username, password };
};

const payloadKeys = (source: AccessSource): PayloadKeys => {
  const name = 'TEMPORAL_PAYLOAD_KEY';
  const words = (secretSetting(source, name) ?? '').split(/[\s,]+/).filter((word) => word !== '');
  const isPlain = words[0] === PLAIN;
  const keys = (isPlain ? words.slice(1) : words).map(payloadKey);
  if (isPlain && keys.length === 0) source.problems.push(`${name} names no key behind "${PLAIN}".`);
  for (const [at, key] of keys.entries()) {
    if (key !== null) continue;
    source.problems.push(
      `${name}: key ${String(at + 1)} is not ${String(PAYLOAD_KEY_BYTES)} bytes in base64 or hex, as "openssl rand -base64 32" makes them.`,
    );
  }
  const all = keys.filter((key) => key !== null);
  return { encrypting: isPlain ? null : (all[0] ?? null), all };
};

const payloadKey = (word: string): Uint8Array | null => {
  if (/^[0-9a-f]{64}$/i.test(word)) return Buffer.from(word, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(word)) return null;
  const bytes = Buffer.from(word, 'base64');
  return bytes.length === PAYLOAD_KEY_BYTES ? bytes : null;
};

/** A secret from the setting of that name, or from the file that `<name>_FILE` names. */
const secretSetting = (source: AccessSource, name: string): string | null => {
  const { text, problems } = source;
  const value = text(name);
  if (text(`${name}_FILE`) === null) return value;
  if (value !== null) {
    problems.push(`${name} and ${name}_FILE are both set; keep one of them.`);
    return null;
  }
  return fileOf(source, `${name}_FILE`);
};

/** The key of an API, as `secretSetting`. */
export const apiKeySetting = (source: AccessSource, name: string): string | null => {
  const key = secretSetting(source, name);
  if (key !== null && !oneWord.test(key)) source.problems.push(`${name} must be one word of visible ASCII characters.`);
  return key;
};

/** The text of the file that a setting names. */
const fileOf = ({ text, path, read, problems }: AccessSource, name: string): string | null => {
  const file = text(name);
  if (file === null) return null;
  try {
    const content = read(path(file)).trim();
    if (content !== '') return content;
    problems.push(`${name} names ${path(file)}, which is empty.`);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    problems.push(`${name} names ${path(file)}, which cannot be read (${reason}).`);
  }
  return null;
};

const isCertificates = (pem: string): boolean => {
  const found = pem.match(certificates) ?? [];
  return found.length > 0 && found.every((each) => succeeds(() => new X509Certificate(each)));
};

const isPrivateKey = (pem: string): boolean => succeeds(() => createPrivateKey(pem));

const succeeds = (act: () => unknown): boolean => {
  try {
    act();
    return true;
  } catch {
    return false;
  }
};
