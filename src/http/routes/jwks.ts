import { Type } from '@sinclair/typebox';

import type { SigningKeys } from '../../ports/signing-keys.js';
import { ok, route, type RouteDefinition } from '../route.js';
import { FreeObject } from '../schemas.js';

/** How long a verifier may keep the set, in seconds: keys are only ever added. */
const MAX_AGE_SECONDS = 300;

/** The public keys that verdicts are verified with, old ones included (contract 2.9). */
export const jwksRoute = (signingKeys: SigningKeys): RouteDefinition =>
  route({
    operationId: 'getJwks',
    method: 'GET',
    path: '/.well-known/jwks.json',
    tag: 'Verdicts',
    summary: 'The public keys that verdicts are signed with',
    scope: null,
    ext: true,
    responses: ok('A JWK set (RFC 7517).', Type.Object({ keys: Type.Array(FreeObject) })),
    handler: async () => ({
      headers: { 'Cache-Control': `public, max-age=${String(MAX_AGE_SECONDS)}` },
      body: { keys: await signingKeys.publicJwks() },
    }),
  });
