import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

import { METADATA_ENCODING_KEY, type Payload, type PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';

import type { Random } from '../../ports/random.js';
import type { PayloadKeys } from '../../ports/server-access.js';

/** The encoding that Temporal's samples use as well, so that their tools can use the same keys. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const CIPHER = 'aes-256-gcm';
/** 96 bits, drawn for each payload. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 9;
/** The maximum length of a foreign key's id that is repeated, in characters. */
const SHOWN = 40;

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;
type Metadata = NonNullable<Payload['metadata']>;

/** Encrypts payloads on their way to Temporal, and decrypts them on the way back. */
export type PayloadEncryption = PayloadCodec & {
  /** Whether new payloads are encrypted. */
  readonly encrypts: boolean;
};

/**
 * The name of a key, derived from it, so that two processes cannot have different keys under one name. It reveals nothing about a key that was drawn
 * at random.
 */
export const payloadKeyId = (key: Uint8Array): string =>
  createHmac('sha256', key).update('anima payload key id').digest().subarray(0, KEY_ID_BYTES).toString('base64url');

/**
 * Encrypts complete payloads, with their metadata, by AES-256-GCM. Payloads that are not encrypted are read unchanged. Reading throws an Error that
 * names the key id if no key has it, or if the payload was altered. That fails only the one task or answer.
 */
export const payloadEncryption = (
  { encrypting, all }: PayloadKeys,
  random: Pick<Random, 'bytes'>,
): PayloadEncryption => {
  const keys = new Map(all.map((key) => [payloadKeyId(key), key]));
  const encode = (payload: Payload): Payload =>
    encrypting === null ? payload : encrypted(payload, encrypting, random);
  const decode = (payload: Payload): Payload => {
    const metadata = payload.metadata ?? {};
    if (textOf(metadata, METADATA_ENCODING_KEY) !== ENCRYPTED) return payload;
    const id = textOf(metadata, KEY_ID);
    const key = keys.get(id);
    if (key === undefined) {
      const shown = JSON.stringify(id.slice(0, SHOWN));
      throw new Error(`A payload is encrypted with the key ${shown}, which is not in TEMPORAL_PAYLOAD_KEY.`);
    }
    return decrypted(payload.data ?? new Uint8Array(), key, id);
  };
  return {
    encrypts: encrypting !== null,
    encode: async (payloads) => payloads.map(encode),
    decode: async (payloads) => payloads.map(decode),
  };
};

const encrypted = (payload: Payload, key: Uint8Array, random: Pick<Random, 'bytes'>): Payload => {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  const text = PayloadMessage.encode(payload).finish();
  return {
    metadata: { [METADATA_ENCODING_KEY]: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(payloadKeyId(key)) },
    data: Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]),
  };
};

const decrypted = (data: Uint8Array, key: Uint8Array, id: string): Payload => {
  try {
    const end = data.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(data.subarray(Math.max(end, 0)));
    return PayloadMessage.decode(
      Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, Math.max(end, NONCE_BYTES))), decipher.final()]),
    );
  } catch (cause) {
    throw new Error(`A payload encrypted with the key ${JSON.stringify(id)} was altered.`, { cause });
  }
};

const textOf = (metadata: Metadata, name: string): string => {
  const bytes = metadata[name];
  return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
};
