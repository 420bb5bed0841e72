import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { playerTokenRoute } from '../../../../src/features/keys/http/player-tokens.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';

let app: TestApp;
beforeEach(async () => {
  const route = playerTokenRoute({
    issue: ({ tenant, keyId }, { player, npcs }, tokenId) =>
      Promise.resolve({
        text: `a.${Buffer.from(JSON.stringify(npcs)).toString('base64url')}.b`,
        token: { tokenId, tenant, keyId, player, npcs, issuedAt: 0, expiresAt: 60 },
      }),
  });
  app = await startApp([route], { keys: { good: testPrincipal({ scopes: ['players'] }) } });
});
afterEach(() => app.stop());

const issue = (more: object) => app.post('/player-tokens', { player: { id: 'p' }, npcs: ['mira'], ...more });

describe('POST /player-tokens', () => {
  it('refuses members that do not exist, without which a token might be valid for longer [12.4n]', async () => {
    for (const member of ['expiresIn', 'ttl', 'expiresAt']) {
      const { status, body } = await issue({ [member]: 60 });
      expect([member, status, body.error?.code]).toEqual([member, 422, 'MEMBER_UNKNOWN']);
    }
    expect((await issue({ expiresInSeconds: 60 })).status).toBe(201);
  });

  it('refuses to issue a token that no header has room for [12.4a]', async () => {
    const npcs = (character: string) =>
      Array.from({ length: 32 }, (_, at) => `${character.repeat(126)}${String(10 + at)}`);
    expect((await issue({ npcs: npcs('a') })).status).toBe(201);
    const { status, body } = await issue({ npcs: npcs('é') });
    expect([status, body.error?.details.issues[0].pointer]).toEqual([400, '/npcs']);
  });
});
