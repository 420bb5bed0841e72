import { createPrivateKey, X509Certificate } from 'node:crypto';

import type { KafkaAccess, PayloadKeys, SaslAccess, TemporalAccess, TlsAccess } from '../ports/server-access.js';
import type { SettingReader } from './setting-reader.js';
import type { SecretName, SettingName } from './settings.js';

/** AES-256. */
const PAYLOAD_KEY_BYTES = 32;
/** Replaces the first payload key if all keys only decrypt. */
const PLAIN = 'plain';

const hostName = /^[A-Za-z0-9_.-]{1,253}$/;
/** What an HTTP header may contain. */
const oneWord = /^[\x21-\x7e]+$/;
const certificates = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** How to connect to Temporal. */
export const readTemporalAccess = (source: SettingReader): TemporalAccess => {
  const tls = tlsAccess(source, 'TEMPORAL');
  const apiKey = secretSetting(source, 'TEMPORAL_API_KEY');
  const { problems, text } = source;
  if (apiKey !== null && !oneWord.test(apiKey)) {
    problems.push('TEMPORAL_API_KEY must consist of visible ASCII characters without spaces.');
  }
  if (isOff(source, 'TEMPORAL') && (text('TEMPORAL_API_KEY') ?? text('TEMPORAL_API_KEY_FILE')) !== null) {
    problems.push('TEMPORAL_API_KEY requires TEMPORAL_TLS=on: without TLS, anyone on the network could read it.');
  }
  return { tls, apiKey, payloadKeys: payloadKeys(source) };
};

/** How to connect to Kafka. */
export const readKafkaAccess = (source: SettingReader): KafkaAccess => ({
  tls: tlsAccess(source, 'KAFKA'),
  sasl: saslAccess(source),
});

const isOff = ({ text }: SettingReader, server: 'TEMPORAL' | 'KAFKA'): boolean => text(`${server}_TLS`) !== 'on';

const tlsAccess = (source: SettingReader, server: 'TEMPORAL' | 'KAFKA'): TlsAccess | null => {
  const { text, choice, problems } = source;
  const name = `${server}_TLS` as const;
  const [caFile, certificateFile, keyFile] = [`${name}_CA_FILE`, `${name}_CERT_FILE`, `${name}_KEY_FILE`] as const;
  // There are several brokers, each with its own host name.
  const serverNameSetting = server === 'TEMPORAL' ? 'TEMPORAL_TLS_SERVER_NAME' : null;
  const on = choice(name) === 'on';
  const others: readonly SettingName[] = [caFile, certificateFile, keyFile];
  const given = [...others, ...(serverNameSetting === null ? [] : [serverNameSetting as SettingName])].filter(text);
  if (!on) {
    for (const each of given) problems.push(`${each} requires ${name}=on.`);
    return null;
  }
  const serverName = serverNameSetting === null ? null : text(serverNameSetting);
  if (serverName !== null && !hostName.test(serverName)) {
    problems.push(`${serverNameSetting ?? ''} must be a host name, not ${JSON.stringify(serverName)}.`);
  }
  const ca = fileOf(source, caFile);
  if (ca !== null && !isCertificates(ca)) problems.push(`${caFile} must name a file with PEM certificates.`);
  return { ca, client: clientCertificate(source, certificateFile, keyFile), serverName };
};

const clientCertificate = (
  source: SettingReader,
  certificateFile: SettingName,
  keyFile: SettingName,
): TlsAccess['client'] => {
  const { text, problems } = source;
  if (text(certificateFile) === null && text(keyFile) === null) return null;
  if (text(keyFile) === null) problems.push(`${certificateFile} also requires ${keyFile}.`);
  if (text(certificateFile) === null) problems.push(`${keyFile} also requires ${certificateFile}.`);
  const certificate = fileOf(source, certificateFile);
  const key = fileOf(source, keyFile);
  const isCertificate = certificate !== null && isCertificates(certificate);
  const isKey = key !== null && isPrivateKey(key);
  if (certificate !== null && !isCertificate) {
    problems.push(`${certificateFile} must name a file with a PEM certificate.`);
  }
  if (key !== null && !isKey) {
    problems.push(`${keyFile} must name a file with a PEM private key that has no password.`);
  }
  if (!isCertificate || !isKey) return null;
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    problems.push(`${keyFile} does not contain the key of the certificate in ${certificateFile}.`);
  }
  return { certificate, key };
};

const saslAccess = (source: SettingReader): SaslAccess | null => {
  const { text, optionalChoice, problems } = source;
  const [mechanismName, usernameName, passwordName] = [
    'KAFKA_SASL_MECHANISM',
    'KAFKA_SASL_USERNAME',
    'KAFKA_SASL_PASSWORD',
  ] as const;
  const mechanism = optionalChoice(mechanismName);
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
    problems.push(`${one} also requires ${name}.`);
  }
  if (mechanism === 'plain' && isOff(source, 'KAFKA')) {
    problems.push(
      `${mechanismName}=plain requires KAFKA_TLS=on: without TLS, anyone on the network could read the password.`,
    );
  }
  return mechanism === null || username === null || password === null ? null : { mechanism, username, password };
};

const payloadKeys = (source: SettingReader): PayloadKeys => {
  const name = 'TEMPORAL_PAYLOAD_KEY';
  const words = (secretSetting(source, name) ?? '').split(/[\s,]+/).filter((word) => word !== '');
  const isPlain = words[0] === PLAIN;
  const keys = (isPlain ? words.slice(1) : words).map(payloadKey);
  if (isPlain && keys.length === 0) source.problems.push(`${name} has no key after "${PLAIN}".`);
  for (const [at, key] of keys.entries()) {
    if (key !== null) continue;
    source.problems.push(
      `${name}: key ${String(at + 1)} is not ${String(PAYLOAD_KEY_BYTES)} bytes in base64 or hex. Generate one with "openssl rand -base64 32".`,
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
const secretSetting = (source: SettingReader, name: SecretName): string | null => {
  const { text, problems } = source;
  const value = text(name);
  if (text(`${name}_FILE`) === null) return value;
  if (value !== null) {
    problems.push(`${name} and ${name}_FILE are both set. Keep only one of them.`);
    return null;
  }
  return fileOf(source, `${name}_FILE`);
};

/** An API key, read like `secretSetting`. */
export const apiKeySetting = (source: SettingReader, name: SecretName): string | null => {
  const key = secretSetting(source, name);
  if (key !== null && !oneWord.test(key))
    source.problems.push(`${name} must consist of visible ASCII characters without spaces.`);
  return key;
};

/** The text of the file that a setting names. */
const fileOf = ({ text, path, read, problems }: SettingReader, name: SettingName): string | null => {
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
