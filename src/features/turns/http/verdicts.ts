import { Type } from '@sinclair/typebox';

import type { JsonObject } from '../../../kernel/base/json.js';
import type { VerdictSigner } from '../verdict-signer.js';
import { verificationExamples as examples } from './examples.js';
import type { SigningKeys } from '../../../ports/signing-keys.js';
import { ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { defined } from '../../../kernel/base/defined.js';
import { named } from '../../../kernel/http/named.js';
import { ClientId, nullable, oneOf } from '../../../kernel/http/schemas.js';

const reasons = [
  'malformed',
  'unknown_key',
  'bad_signature',
  'revoked_key',
  'other_npc',
  'other_verdict',
  'other_ruleset',
] as const;

const VerifyVerdictRequest = named(
  'VerifyVerdictRequest',
  Type.Object({
    npcId: ClientId,
    signature: nullable(Type.String({ description: 'The compact JWS; or send it as `X-Service-Signature`.' })),
    verdict: Type.Unsafe<JsonObject>({
      type: 'object',
      description:
        'The members of the verdict: `valid`, `dialogue`, `action`, `memoryStore`, and `stateDelta` or `stateTransform`.',
    }),
    ruleset: nullable(
      named(
        'ExpectedRuleset',
        Type.Object(
          { id: nullable(ClientId), version: nullable(Type.Integer()), digest: nullable(Type.String()) },
          { description: 'The rules that must have decided, such as those that the game was shipped with.' },
        ),
      ),
    ),
  }),
);
const VerifiedVerdict = named(
  'VerifiedVerdict',
  Type.Object({
    valid: Type.Boolean(),
    reason: Type.Optional(oneOf(reasons)),
    turnId: Type.Optional(Type.String()),
    revision: Type.Optional(Type.Integer()),
    signedAt: Type.Optional(Type.String({ format: 'date-time' })),
  }),
);
const Jwk = named(
  'Jwk',
  Type.Object(
    { kty: Type.String(), crv: Type.String(), x: Type.String(), kid: Type.String() },
    { additionalProperties: true, description: 'A public key (RFC 7517).' },
  ),
);
const JwkSet = named('JwkSet', Type.Object({ keys: Type.Array(Jwk) }));

/** `POST /verdicts/verify`: whether a signature is ours and covers a verdict. */
export const verdictRoutes = (signer: VerdictSigner): readonly RouteDefinition[] => [
  route('POST', '/verdicts/verify', {
    operationId: 'verifyVerdict',
    tag: 'Protocol',
    summary: "Verify the signature of an NPC's verdict",
    description:
      'A verdict that was valid once always verifies, unless its key was revoked. Use `turnId`, `revision` and `signedAt` to judge whether it is fresh.',
    scope: 'npc',
    ext: true,
    retention: 'never',
    body: VerifyVerdictRequest,
    example: examples.verify,
    reads: ['X-Service-Signature'],
    responses: ok('Whether the signature covers the verdict.', VerifiedVerdict, examples.verified),
    handler: async (call) => {
      const { npcId, verdict, ruleset } = call.body;
      const signature = call.body.signature ?? call.header('x-service-signature');
      const { id, version, digest } = ruleset ?? {};
      const expected = defined({ id: id ?? undefined, version: version ?? undefined, digest: digest ?? undefined });
      const { tenant } = call.principal;
      return { body: await signer.verify({ tenant, npcId, signature, verdict, ruleset: expected }) };
    },
  }),
];

/** How long a verifier may keep the set, in seconds: keys are only ever added. */
const MAX_AGE_SECONDS = 300;

/** The public keys for verifying verdicts, old and revoked ones included. */
export const jwksRoute = (signingKeys: SigningKeys): RouteDefinition =>
  route('GET', '/.well-known/jwks.json', {
    operationId: 'getJwks',
    tag: 'Verdicts',
    summary: 'Get the public keys that sign verdicts',
    description: 'Old keys included. `GET /signing-keys` says which of them were revoked.',
    scope: null,
    ext: true,
    responses: ok('A JWK set (RFC 7517).', JwkSet, examples.jwks),
    handler: async () => ({
      headers: { 'Cache-Control': `public, max-age=${String(MAX_AGE_SECONDS)}` },
      body: { keys: await signingKeys.publicJwks() },
    }),
  });
