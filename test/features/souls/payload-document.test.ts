import { describe, expect, it } from 'vitest';

import { payloadDocument } from '../../../src/features/souls/payload-document.js';
import { soulToCbor } from '../../../src/features/souls/domain/binary.js';
import { MAX_CONTAINERS } from '../../../src/kernel/base/scan-json.js';
import { unsignedSoul } from '../../support/souls.js';
import { itLong } from '../../support/long.js';

const soul = { ...unsignedSoul(), trainingProof: 'r', signature: 's' };

describe('the document in a payload', () => {
  it('is read in either form', async () => {
    expect(await payloadDocument(Buffer.from(JSON.stringify(soul)))).toEqual(soul);
    expect(await payloadDocument(soulToCbor(soul))).toEqual(soul);
  });

  it('is null when a gateway returns something else', async () => {
    for (const bytes of [Buffer.from('{"a":'), Buffer.from('<html>'), Buffer.from([0x7b, 0xff]), new Uint8Array()])
      expect(await payloadDocument(bytes)).toBeNull();
  });

  it('is null when a name is repeated in one object, at any depth: readers could disagree [8.7p]', async () => {
    const text = JSON.stringify(soul);
    expect(await payloadDocument(Buffer.from(`${text.slice(0, -1)}, "\\u006eame":"Zo\u00eb"}`))).toBeNull();
    expect(await payloadDocument(Buffer.from('{"a":[{"b":1,"c":{"d":[1,{"e":1,"e":1}]}}]}'))).toBeNull();
    const same = '{"a":[{"b":1},{"b":1},":",{"a":{"a":{}}}]}';
    expect(await payloadDocument(Buffer.from(same))).toEqual(JSON.parse(same));
  });

  itLong('is null when it would exceed the limits of a soul, in either form', async () => {
    const lists = MAX_CONTAINERS + 1;
    expect(await payloadDocument(Buffer.from(`{"a":[${'[],'.repeat(lists)}0]}`))).toBeNull();
    const head = Buffer.from([0x9a, 0, 0, 0, 0]);
    head.writeUInt32BE(lists, 1);
    for (const item of [0x80, 0xa0]) {
      expect(await payloadDocument(Buffer.concat([head, Buffer.alloc(lists, item)]))).toBeNull();
    }
  });
});
