import { generateKeyPairSync, sign } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import {
  checkpointText,
  readCheckpoint,
  readCheckpointText,
} from '../../../../src/features/proofs/domain/checkpoint.js';
import { noteKeyId, readNote, signersOf, writeNote } from '../../../../src/features/proofs/domain/note.js';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const x = publicKey.export({ format: 'jwk' }).x ?? '';
  return { x, sign: (text: string): Uint8Array => sign(null, Buffer.from(text), privateKey) };
};
const [own, other] = [newKey(), newKey()];
const ORIGIN = 'minds.example/audit/local';
const checkpoint = { origin: ORIGIN, size: 4, root: Buffer.alloc(32, 7), at: '2026-11-25T00:22:44.156Z' };
const text = checkpointText(checkpoint);
const noteOf = (key: typeof own, of = text, name = ORIGIN): string =>
  writeNote(of, { name, keyId: noteKeyId(name, key.x), signature: key.sign(of) });
const signerIn = (note: string, keys = [own]): string | null => {
  const read = readNote(note);
  return read && (signersOf(read, ORIGIN, keys)[0]?.x ?? null);
};

describe('a signed note', () => {
  it('has the C2SP form: the text, an empty line, and a signature with the id of its key [10.5c]', () => {
    expect(text).toBe(`${ORIGIN}\n4\n${Buffer.alloc(32, 7).toString('base64')}\ntime 2026-11-25T00:22:44.156Z\n`);
    expect(noteOf(own)).toMatch(/\n\n— minds\.example\/audit\/local [A-Za-z0-9+/]{91}=\n$/);
  });

  it('has the known id of a known key (the example of golang.org/x/mod/sumdb/note)', () => {
    const [name = '', id = '', key = ''] = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'.split(
      '+',
    );
    const x = Buffer.from(key, 'base64').subarray(1).toString('base64url');
    expect(Buffer.from(noteKeyId(name, x)).toString('hex')).toBe(id);
    const signed =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n" +
      '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n';
    const read = readNote(signed);
    expect(read && signersOf(read, name, [{ x }])).toEqual([{ x }]);
  });

  it('is recognised by the key that signed it, among others, and not by another one', () => {
    expect(signerIn(noteOf(own), [other, own])).toBe(own.x);
    expect(signerIn(noteOf(own), [other])).toBeNull();
    expect(signerIn(noteOf(own, text, 'another.example'))).toBeNull();
    expect(signerIn(noteOf(own).replace('\n4\n', '\n5\n'))).toBeNull();
    const witnessed = `${noteOf(own)}— witness.example ${Buffer.alloc(76, 1).toString('base64')}\n`;
    expect(signerIn(witnessed)).toBe(own.x);
  });

  it('is parsed strictly', () => {
    const good = noteOf(own);
    const wrong = [
      '',
      text,
      good.slice(0, -1),
      `${good}\n`,
      good.replace('— ', '- '),
      good.replace('\n\n', '\n'),
      good.replace('time', 'ti\u0000me'),
      good.replace('\n4', '\r\n4'),
      good.replace(/=\n$/, '\n'),
      `${text}\n— ${ORIGIN} AAAA\n`,
      `${text}\n${'— a AAAAAAAA\n'.repeat(65)}`,
      `${'x'.repeat(65_536)}\n${good}`,
    ];
    for (const note of wrong) expect(readNote(note), JSON.stringify(note.slice(0, 200))).toBeNull();
  });
});

describe('a checkpoint', () => {
  it('is read as it was written', () => {
    expect(readCheckpoint(noteOf(own))?.checkpoint).toEqual(checkpoint);
    expect(readCheckpointText(text)).toEqual(checkpoint);
  });

  it('is refused in any other form', () => {
    const [origin = '', size = '', root = '', time = ''] = text.split('\n');
    const wrong = [
      [origin, '04', root, time],
      [origin, '-1', root, time],
      [origin, '9007199254740993', root, time],
      [origin, size, root.slice(4), time],
      [origin, size, `${root} `, time],
      [origin, size, root, 'time yesterday'],
      [origin, size, root],
      [origin, size, root, time, 'more'],
      ['two words', size, root, time],
      ['a+b', size, root, time],
    ];
    for (const lines of wrong) expect(readCheckpointText(`${lines.join('\n')}\n`), lines.join()).toBeNull();
  });
});
