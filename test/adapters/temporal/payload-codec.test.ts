import { createCipheriv, createDecipheriv } from 'node:crypto';

import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { describe, expect, it } from 'vitest';

import { payloadEncryption, payloadKeyId } from '../../../src/adapters/temporal/payload-codec.js';
import { seededRandom } from '../../support/seeded-random.js';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const [first, second] = [key(1), key(2)];
const random = seededRandom('payloads');
const withKeys = (...all: readonly Uint8Array[]) => payloadEncryption({ encrypting: all[0] ?? null, all }, random);
const readingOnly = (...all: readonly Uint8Array[]) => payloadEncryption({ encrypting: null, all }, random);

const secret = { dialogue: 'The key is under the third stone.' };
const payload = defaultPayloadConverter.toPayload(secret);
const one = async (work: Promise<Payload[]>): Promise<Payload> => {
  const [only, ...more] = await work;
  if (only === undefined || more.length > 0) throw new Error('one payload was expected');
  return only;
};
const valueOf = (read: Payload): unknown => defaultPayloadConverter.fromPayload(read);
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

describe('payloads on their way to Temporal', () => {
  it('show only the id of their key, and are decoded unchanged', async () => {
    const codec = withKeys(first);
    const sent = await one(codec.encode([payload]));
    expect(Object.keys(sent.metadata ?? {})).toEqual(['encoding', 'encryption-key-id']);
    expect(textOf(sent.metadata?.['encoding'])).toBe('binary/encrypted');
    expect(textOf(sent.metadata?.['encryption-key-id'])).toBe(payloadKeyId(first));
    expect(Buffer.from(sent.data ?? []).toString('latin1')).not.toMatch(/json|dialogue|stone/);
    const read = await one(codec.decode([sent]));
    expect(valueOf(read)).toEqual(secret);
    expect(textOf(read.metadata?.['encoding'])).toBe('json/plain');
  });

  it('are encrypted by AES-256-GCM with 12 random bytes before and the tag behind, readable by other implementations', async () => {
    const sent = Buffer.from((await one(withKeys(first).encode([payload]))).data ?? []);
    const decipher = createDecipheriv('aes-256-gcm', first, sent.subarray(0, 12));
    decipher.setAuthTag(sent.subarray(-16));
    const text = Buffer.concat([decipher.update(sent.subarray(12, -16)), decipher.final()]);
    expect(valueOf(proto.temporal.api.common.v1.Payload.decode(text))).toEqual(secret);
  });

  it('never have the same nonce', async () => {
    const codec = withKeys(first);
    const sent = await codec.encode(Array.from({ length: 1_000 }, () => payload));
    expect(new Set(sent.map(({ data }) => Buffer.from(data ?? []).toString('hex', 0, 12))).size).toBe(1_000);
  });

  it('keep their number and order, also when there are none', async () => {
    const codec = withKeys(first);
    const values = ['a', '', null, 'd'];
    const sent = await codec.encode(values.map((value) => defaultPayloadConverter.toPayload(value)));
    expect((await codec.decode(sent)).map(valueOf)).toEqual(values);
    expect(await codec.encode([])).toEqual([]);
  });

  it('are read unchanged if they were written in plain text', async () => {
    expect(await one(withKeys(first).decode([payload]))).toBe(payload);
    expect(await one(withKeys(first).decode([{}]))).toEqual({});
  });

  it('stay plain without a key, and with read-only keys [11.1f]', async () => {
    for (const codec of [withKeys(), readingOnly(first)]) {
      expect(codec.encrypts).toBe(false);
      expect(await one(codec.encode([payload]))).toBe(payload);
    }
    const sent = await one(withKeys(first).encode([payload]));
    expect(valueOf(await one(readingOnly(first).decode([sent])))).toEqual(secret);
  });

  it('are read with every configured key, and written with the first [11.1f]', async () => {
    const before = await one(withKeys(first).encode([payload]));
    const rotated = withKeys(second, first);
    expect(valueOf(await one(rotated.decode([before])))).toEqual(secret);
    const after = await one(rotated.encode([payload]));
    expect(textOf(after.metadata?.['encryption-key-id'])).toBe(payloadKeyId(second));
    expect(valueOf(await one(withKeys(second).decode([after])))).toEqual(secret);
  });

  it('are refused with the key id and the setting when the key is unknown', async () => {
    const sent = await one(withKeys(first).encode([payload]));
    for (const codec of [withKeys(second), withKeys()]) {
      await expect(codec.decode([sent])).rejects.toThrow(
        `A payload is encrypted with the key "${payloadKeyId(first)}", which is not in TEMPORAL_PAYLOAD_KEY.`,
      );
    }
  });

  it('are refused without repeating more of a key id than fits one line', async () => {
    const metadata = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from(`${'x'.repeat(40)}\n${'y'.repeat(100_000)}`),
    };
    const refusal = await withKeys(first)
      .decode([{ metadata }])
      .then(() => '', String);
    expect(refusal).toContain(`the key "${'x'.repeat(40)}", which`);
  });

  it('are refused when any bit was changed or they were truncated', async () => {
    const codec = withKeys(first);
    const sent = await one(codec.encode([payload]));
    const data = Buffer.from(sent.data ?? []);
    const altered = Array.from(data.keys(), (at) => {
      const copy = Buffer.from(data);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return copy;
    });
    const cut = [0, 1, 11, 12, 27, 28, data.length - 1].map((length) => data.subarray(0, length));
    for (const wrong of [...altered, ...cut]) {
      await expect(codec.decode([{ ...sent, data: wrong }])).rejects.toThrow('was altered');
    }
  });

  it('are refused when they carry the id of a key that did not encrypt them', async () => {
    const cipher = createCipheriv('aes-256-gcm', second, new Uint8Array(12));
    const body = Buffer.concat([cipher.update('{}'), cipher.final()]);
    const data = Buffer.concat([new Uint8Array(12), body, cipher.getAuthTag()]);
    const metadata = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from(payloadKeyId(first)),
    };
    await expect(withKeys(first).decode([{ metadata, data }])).rejects.toThrow('was altered');
  });
});
