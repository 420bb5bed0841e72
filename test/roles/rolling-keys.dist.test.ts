import { describe, expect, it } from 'vitest';

import { apiOf } from '../support/api.js';
import { openNamespace } from '../support/distributed-server.js';

describe('servers that sign under different names', () => {
  it("verify each other's verdicts and publish each other's keys, whichever started first", async () => {
    await using namespace = await openNamespace();
    const first = await namespace.start('http');
    const second = await namespace.start('http', { ANIMA_JWS_ALG: 'Ed25519' });
    const [old, next] = [first, second].map(({ url }) => apiOf(url, namespace.ownerKey)) as [
      ReturnType<typeof apiOf>,
      ReturnType<typeof apiOf>,
    ];
    for (const [signing, verifying] of [
      [next, old],
      [old, next],
    ] as const) {
      const { body: verdict } = await signing.post('/npcs/mira/verdict', { generatedOutput: 'Three coins.' });
      const answer = await verifying.post('/verdicts/verify', {
        npcId: 'mira',
        signature: verdict.signature as string,
        verdict,
      });
      expect(answer.body, answer.text).toMatchObject({ valid: true, turnId: verdict.turnId as string });
    }
    const published = await Promise.all([old, next].map((api) => api.get('/.well-known/jwks.json')));
    expect(published[0]?.body.keys).toHaveLength(2);
    expect(published[0]?.body).toEqual(published[1]?.body);
  }, 120_000);
});
