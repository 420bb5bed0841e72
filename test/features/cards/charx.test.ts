import { describe, expect, it } from 'vitest';

import { beginsAsCharx, cardInCharx } from '../../../src/features/cards/charx.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { v3Card } from './domain/cards.js';
import { zipOf, type ZipFileContent } from './zip-of.js';

const MAX_BYTES = 10_000;
const CARD: ZipFileContent = { name: 'card.json', content: JSON.stringify(v3Card()) };
const refusalOf = async (bytes: Buffer): Promise<string> => {
  try {
    await cardInCharx(bytes, MAX_BYTES);
  } catch (thrown) {
    if (thrown instanceof Rejection) return thrown.code;
    throw thrown;
  }
  return 'none';
};

describe('a CHARX', () => {
  it('has its card in card.json, wherever that is [8.9t]', async () => {
    const assets = Array.from({ length: 20 }, (_, at) => ({ name: `assets/${String(at)}.png`, content: 'x' }));
    for (const files of [[CARD], [CARD, ...assets], [...assets, CARD]]) {
      const zip = zipOf(files);
      expect(beginsAsCharx(zip)).toBe(true);
      expect(JSON.parse((await cardInCharx(zip, MAX_BYTES)).toString('utf8'))).toEqual(v3Card());
    }
  });

  it('has no card, or one that cannot be read [8.9m, 8.9t]', async () => {
    expect(await refusalOf(zipOf([]))).toBe('CARD_MISSING');
    expect(await refusalOf(zipOf([{ name: 'deep/card.json', content: '{}' }]))).toBe('CARD_MISSING');
    expect(await refusalOf(zipOf([CARD], 1))).toBe('CHARX_INVALID');
    expect(await refusalOf(zipOf([{ name: '../card.json', content: '{}' }]))).toBe('CHARX_INVALID');
    expect(await refusalOf(Buffer.from('PK\u0003\u0004'))).toBe('CHARX_INVALID');
    const whole = zipOf([CARD]);
    for (let length = 0; length < whole.length; length += 7) {
      expect(await refusalOf(whole.subarray(0, length))).toBe('CHARX_INVALID');
    }
  });

  it('may stand behind a JPEG, with places that count from either beginning [8.9aa]', async () => {
    const jpeg = Buffer.concat([
      Buffer.from('ffd8ffe000104a464946', 'hex'),
      Buffer.from('PK\u0005\u0006 in a picture'),
      Buffer.from('ffd9', 'hex'),
    ]);
    const zip = zipOf([CARD, { name: 'assets/main.png', content: 'x' }]);
    for (const file of [Buffer.concat([jpeg, zip]), zipOf([CARD], 0, jpeg)]) {
      expect(beginsAsCharx(file)).toBe(true);
      expect(JSON.parse((await cardInCharx(file, MAX_BYTES)).toString('utf8'))).toEqual(v3Card());
    }
    expect(await refusalOf(jpeg)).toBe('CARD_MISSING');
    expect(await refusalOf(Buffer.concat([jpeg, zipOf([])]))).toBe('CARD_MISSING');
    expect(await refusalOf(Buffer.concat([jpeg, zip.subarray(0, -1)]))).toBe('CARD_MISSING');
    const ends = Buffer.alloc(200_000, Buffer.from('504b0506', 'hex'));
    expect(await refusalOf(Buffer.concat([jpeg, ends]))).toBe('CARD_MISSING');
    const lying = Buffer.from(zip);
    lying.writeUInt32LE(lying.readUInt32LE(zip.length - 6) + 7, zip.length - 6);
    expect(await refusalOf(Buffer.concat([jpeg, lying]))).toBe('CHARX_INVALID');
  });

  it('is bounded by the bytes of its card and the number of its files [8.9m, 8.9t]', async () => {
    const bomb = Buffer.alloc(64 * 1024 * 1024);
    expect(await refusalOf(zipOf([{ name: 'card.json', content: bomb }]))).toBe('BODY_TOO_LARGE');
    expect(await refusalOf(zipOf([{ name: 'card.json', content: bomb, claimed: 100 }]))).toBe('CHARX_INVALID');
    expect(await refusalOf(zipOf([{ name: 'picture.png', content: bomb }, CARD]))).toBe('none');
    const files = Array.from({ length: 4_096 }, (_, at) => ({ name: String(at), content: '' }));
    expect(await refusalOf(zipOf([...files, CARD]))).toBe('CHARX_INVALID');
  });
});
