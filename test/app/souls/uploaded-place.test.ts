import { describe, expect, it } from 'vitest';

import { Lines } from '../../../src/app/pacing/line.js';
import { uploadedPlace } from '../../../src/app/souls/uploaded-place.js';
import { contentDigest } from '../../../src/domain/shared/content-digest.js';
import { archiveUnavailable } from '../../../src/domain/soul/archive-unavailable.js';
import type { PayloadSource } from '../../../src/ports/payload-source.js';

const payload = Buffer.from('{"name":"Mira"}');
const txId = 'A'.repeat(43);

describe('the place of a payload that was brought to a bundler', () => {
  const placed = (fetch: PayloadSource['fetch']) => {
    const gateway = { name: 'arweave', fetch };
    const bundler = { url: 'https://up', token: 'x', gateway, gatewayUrl: 'https://arweave.example' };
    const archive = { readPublic: () => Promise.resolve(null) };
    const deps = { archive, archives: { bundler }, publicUrl: 'http://minds', lines: new Lines() };
    return uploadedPlace(deps, contentDigest(payload), txId);
  };
  const place = { txId, url: `https://arweave.example/${txId}` };

  it.each([
    ['it', payload],
    ['it in another form', Buffer.from('{"name" : "Mira"}')],
    ['nothing yet', null],
  ])('is what the client says while the gateway has %s under the id', async (_, found) => {
    expect(await placed(() => Promise.resolve(found))).toEqual(place);
  });

  it('is what the client says while the gateway does not answer', async () => {
    expect(await placed(() => Promise.reject(archiveUnavailable('gateway')))).toEqual(place);
  });

  it.each([
    ['another payload', Buffer.from('{"name":"Bo"}')],
    ['no JSON', Buffer.from('<html>')],
    ['more than any payload has', 'too_large' as const],
  ])('is not there when the gateway has %s under the id', async (_, found) => {
    await expect(placed(() => Promise.resolve(found))).rejects.toMatchObject({ code: 'SOUL_PAYLOAD_MISMATCH' });
  });
});
