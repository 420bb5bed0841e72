import { crc32, deflateSync } from 'node:zlib';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cardTextIn, withCards } from '../../../src/features/cards/card-picture.js';
import { beginsAsPng, type PngChunk, pngChunks, pngOf } from '../../../src/kernel/crypto/png.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';

const MAX_BYTES = 1_000;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Reimplemented here, so that an error in the writer does not hide one in the reader. */
const chunk = (type: string, data: Uint8Array | string = ''): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.from(data)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length - 4);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, crc]);
};
const header = chunk('IHDR', Buffer.from('00000001000000010800000000', 'hex'));
const pixels = chunk('IDAT', deflateSync(Buffer.from([0, 128])));
const png = (...chunks: readonly Buffer[]): Buffer =>
  Buffer.concat([SIGNATURE, header, pixels, ...chunks, chunk('IEND')]);
const base64 = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64');
const text = (keyword: string, json: unknown): Buffer => chunk('tEXt', `${keyword}\0${base64(json)}`);

const refusalOf = (read: () => unknown): { readonly code: string; readonly reason: unknown } => {
  try {
    read();
  } catch (thrown) {
    if (thrown instanceof Rejection) return { code: thrown.code, reason: thrown.details['reason'] };
    throw thrown;
  }
  throw new Error('nothing was refused');
};
const cardIn = async (bytes: Buffer): Promise<unknown> =>
  JSON.parse((await cardTextIn(bytes, MAX_BYTES)).toString('utf8'));
/** The refusal of a picture whose card is read. */
const unreadable = async (bytes: Buffer): Promise<{ readonly code: string; readonly reason: unknown }> => {
  const read = await cardTextIn(bytes, MAX_BYTES).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return refusalOf(() => {
    if (read !== undefined) throw read as Error;
  });
};
const zTXt = (keyword: string, body: Buffer | string): Buffer =>
  chunk('zTXt', Buffer.concat([Buffer.from(`${keyword}\0\0`), deflateSync(body)]));
const iTXt = (keyword: string, body: Buffer, flag: number): Buffer =>
  chunk('iTXt', Buffer.concat([Buffer.from(`${keyword}\0`), Buffer.from([flag, 0]), Buffer.from('en\0Karte\0'), body]));

describe('the chunks of a PNG', () => {
  it('are read up to the end chunk, and the rest is ignored', () => {
    const types = pngChunks(Buffer.concat([png(chunk('tEXt', 'a\0b')), Buffer.from('more')])).map(({ type }) => type);
    expect(types).toEqual(['IHDR', 'IDAT', 'tEXt', 'IEND']);
  });

  it('are read back as they were written', () => {
    const data = fc.uint8Array({ maxLength: 64 });
    const type = fc.stringMatching(/^[a-z][A-Za-z]{3}$/);
    fc.assert(
      fc.property(fc.array(fc.record({ type, data }), { maxLength: 8 }), (between) => {
        const ends: readonly PngChunk[] = pngChunks(png());
        const chunks = [...ends.slice(0, -1), ...between, ...ends.slice(-1)];
        const read = pngChunks(pngOf(chunks));
        expect(read.map((one) => [one.type, [...one.data]])).toEqual(chunks.map((one) => [one.type, [...one.data]]));
      }),
    );
  });

  it.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'does not begin with the PNG signature'],
    ['a zip', Buffer.from('PK\u0003\u0004 and much more'), 'does not begin with the PNG signature'],
    ['the signature alone', SIGNATURE, 'in the middle of a chunk'],
    ['no IHDR at its beginning', Buffer.concat([SIGNATURE, pixels, chunk('IEND')]), 'one valid IHDR'],
    ['two of them', png(header), 'one valid IHDR'],
    ['a short one', Buffer.concat([SIGNATURE, chunk('IHDR', 'x'), chunk('IEND')]), 'one valid IHDR'],
    ['no IEND', png().subarray(0, -12), 'in the middle of a chunk'],
    ['a type that is none', png(chunk('t\0Xt')), 'invalid type'],
    ['endless chunks', png(...Array.from({ length: 16_384 }, () => chunk('tEXt'))), 'more than 16384 chunks'],
  ])('are refused in a file with %s', (_, bytes, reason) => {
    expect(refusalOf(() => pngChunks(bytes))).toEqual({
      code: 'PNG_INVALID',
      reason: expect.stringContaining(reason) as string,
    });
  });

  it('are refused wherever the file was truncated', () => {
    const whole = png(text('chara', { name: 'Mira' }));
    for (let length = 0; length < whole.length; length += 1) {
      expect(refusalOf(() => pngChunks(whole.subarray(0, length))).code).toBe('PNG_INVALID');
    }
  });

  it('are refused whichever byte was changed [8.9l]', () => {
    const whole = png(text('chara', { name: 'Mira' }));
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(refusalOf(() => pngChunks(damaged)).code).toBe('PNG_INVALID');
    }
  });

  it.each([0x7fffffff, 0xffffffff])('are refused immediately when one claims %i bytes', (length) => {
    const claim = chunk('tEXt', 'chara\0QQ==');
    claim.writeUInt32BE(length, 0);
    expect(refusalOf(() => pngChunks(png(claim))).reason).toContain('in the middle of a chunk');
  });
});

describe('a card in a picture', () => {
  it('is found in either chunk, in `ccv3` first, whatever the case of its keyword and the white space in it [8.9l]', async () => {
    expect(await cardIn(png(text('chara', 2)))).toBe(2);
    expect(await cardIn(png(text('chara', 2), text('ccv3', 3), text('ccv3', 4)))).toBe(3);
    expect(await cardIn(png(text('Chara', 2)))).toBe(2);
    expect(
      await cardIn(png(chunk('tEXt', `chara\0${base64({ a: 'b' }).slice(0, 4)}\r\n ${base64({ a: 'b' }).slice(4)}\n`))),
    ).toEqual({
      a: 'b',
    });
  });

  it('is missing if no chunk has the name', async () => {
    for (const other of [
      png(),
      png(text('charas', 1)),
      png(chunk('tEXt', 'chara')),
      png(chunk('eXIf', 'chara\0QQ==')),
    ]) {
      expect((await unreadable(other)).code).toBe('CARD_MISSING');
    }
  });

  it('is read from compressed and international chunks, as base64 or as plain JSON [8.9l]', async () => {
    const packed = Buffer.from(base64({ name: 'Miré' }));
    const plain = Buffer.from(' {"name": "Miré"}');
    for (const one of [
      zTXt('chara', packed),
      zTXt('chara', plain),
      iTXt('chara', packed, 0),
      iTXt('chara', plain, 0),
      iTXt('Chara', deflateSync(packed), 1),
    ]) {
      expect(await cardIn(png(one))).toEqual({ name: 'Miré' });
    }
    expect(await cardIn(png(zTXt('chara', base64(2)), zTXt('ccv3', base64(3))))).toBe(3);
    expect(await cardIn(png(text('chara', 2), zTXt('ccv3', base64(3))))).toBe(3);
    expect(await cardIn(png(zTXt('chara', base64(1)), text('chara', 2)))).toBe(2);
  });

  it('is not read if it is damaged or not base64 [8.9l, 8.9m]', async () => {
    const damaged: readonly (readonly [Buffer, string])[] = [
      [chunk('zTXt', 'chara\0\0broken'), 'A zTXt chunk cannot be decompressed.'],
      [chunk('zTXt', Buffer.concat([Buffer.from('chara\0\x01'), deflateSync('e30=')])), 'unknown method'],
      [chunk('zTXt', 'chara\0'), 'unknown method'],
      [chunk('iTXt', 'chara\0\0\0en'), 'ends before its text'],
      [chunk('iTXt', 'chara\0'), 'ends before its text'],
      [chunk('tEXt', 'chara\0{"name":'), 'base64'],
    ];
    for (const [one, reason] of damaged) {
      const refused = await unreadable(png(one));
      expect(refused).toEqual({
        code: 'PNG_INVALID',
        reason: expect.stringContaining(reason.replace('A zTXt chunk', 'a zTXt chunk')) as string,
      });
    }
  });

  it('is not decompressed beyond the limit of a card, however many chunks there are [8.9l, 8.9m]', async () => {
    const bomb = Buffer.alloc(64 * 1024 * 1024);
    const bombs = [zTXt('ccv3', bomb), iTXt('chara', deflateSync(bomb), 1)];
    const many = png(...(Array.from({ length: 4_000 }, (_, at) => bombs[at % 2] ?? bombs[0]) as Buffer[]));
    const began = performance.now();
    expect((await unreadable(many)).code).toBe('BODY_TOO_LARGE');
    expect(performance.now() - began).toBeLessThan(5_000);
    for (const one of bombs) expect((await unreadable(png(one))).code).toBe('BODY_TOO_LARGE');
    expect((await unreadable(png(text('chara', 'x'.repeat(MAX_BYTES))))).code).toBe('BODY_TOO_LARGE');
  });

  it('is found even if another chunk of its name is unreadable', async () => {
    const unread = (type: string, keyword: string) => chunk(type, `${keyword}\0\0broken`);
    expect(await cardIn(png(unread('zTXt', 'chara'), text('chara', 2)))).toBe(2);
    expect(await cardIn(png(unread('iTXt', 'ccv3'), text('chara', 2), unread('zTXt', 'chara')))).toBe(2);
  });

  it('is refused before it is read if its text is longer than any card', async () => {
    const spaces = (count: number) => png(chunk('tEXt', `chara\0${' '.repeat(count)}!`));
    expect((await unreadable(spaces(MAX_BYTES))).reason).toContain('base64');
    expect((await unreadable(spaces(2 * MAX_BYTES))).code).toBe('BODY_TOO_LARGE');
  });

  it('is written into a picture of one pixel, always with the same bytes, or replaces the card of a given picture', async () => {
    const made = withCards({ chara: { name: 'Miré' } });
    expect(made).toEqual(withCards({ chara: { name: 'Miré' } }));
    expect(await cardIn(made)).toEqual({ name: 'Miré' });
    expect(pngChunks(made).map(({ type }) => type)).toEqual(['IHDR', 'IDAT', 'tEXt', 'IEND']);
    const again = withCards({ ccv3: 3, chara: 2 }, png(text('chara', 1), chunk('tEXt', 'Artist\0me'), text('ccv3', 1)));
    expect(await cardIn(again)).toBe(3);
    expect(pngChunks(again).map(({ data }) => Buffer.from(data).toString('latin1').split('\0')[0])).toEqual(
      expect.arrayContaining(['Artist', 'ccv3', 'chara']),
    );
    expect(pngChunks(again)).toHaveLength(6);
    expect(beginsAsPng(made)).toBe(true);
  });

  it('is in a picture that decoders open [8.9r]', () => {
    const [head, image] = pngChunks(withCards({ chara: 1 }));
    expect([...(head?.data ?? [])].slice(0, 9)).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 8]);
    expect(image?.data).toEqual(deflateSync(Buffer.from([0, 128])));
  });
});
