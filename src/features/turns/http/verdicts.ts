import { Type } from '@sinclair/typebox';

import type { VerdictSigner } from '../verdict-signer.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { ClientId, FreeObject, nullable, oneOf } from '../../../kernel/http/schemas.js';

const reasons = ['malformed', 'unknown_key', 'bad_signature', 'other_npc', 'other_verdict'] as const;

/** `POST /verdicts/verify`: whether this server made a signature, and whether it covers a verdict. */
export const verdictRoutes = (signer: VerdictSigner): readonly RouteDefinition[] => [
  route('POST', '/verdicts/verify', {
    operationId: 'verifyVerdict',
    tag: 'Protocol',
    summary: 'Whether a signature covers this verdict of this NPC',
    description:
      'The signature is in the body or in the header `X-Service-Signature`. `stateTransform` is read as `stateDelta`. ' +
      'A verdict that was once valid always verifies. Judge by `turnId`, `revision` and `signedAt` whether it is fresh.',
    scope: 'npc',
    ext: true,
    retention: 'never',
    body: Type.Object({ npcId: ClientId, signature: nullable(Type.String()), verdict: FreeObject }),
    responses: ok(
      'The answer.',
      Type.Object({
        valid: Type.Boolean(),
        reason: Type.Optional(oneOf(reasons)),
        turnId: Type.Optional(Type.String()),
        revision: Type.Optional(Type.Integer()),
        signedAt: Type.Optional(Type.String({ format: 'date-time' })),
      }),
    ),
    handler: async (call) => {
      const { npcId, verdict } = call.body;
      const signature = call.body.signature ?? call.header('x-service-signature');
      return { body: await signer.verify({ tenant: call.principal.tenant, npcId, signature, verdict }) };
    },
  }),
];

/** How long a verifier may keep the set, in seconds: keys are only ever added. */
const MAX_AGE_SECONDS = 300;

/** The public keys for verifying verdicts, old ones included. */
export const jwksRoute = (signingKeys: SigningKeys): RouteDefinition =>
  route('GET', '/.well-known/jwks.json', {
    operationId: 'getJwks',
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
