import { type Static, Type } from '@sinclair/typebox';

import { Rejection } from '../../../kernel/base/rejection.js';
import type { Principal } from '../../../kernel/base/scopes.js';
import { named } from '../../../kernel/http/named.js';
import { contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { nullable, pathId } from '../../../kernel/http/schemas.js';
import { instantOf, TIMESTAMP } from '../../../kernel/base/timestamp.js';
import { type ChangeSigningKeysDeps, revokeSigningKeySince, rotateSigningKey } from '../change-signing-keys.js';
import type { SigningKey } from '../domain/signing-key-state.js';
import { keyExamples as examples } from './examples.js';

/** The longest reason of a revocation, in characters. */
const REASON_CHARS = 512;

const ListedSigningKey = named(
  'SigningKey',
  Type.Object({
    kid: Type.String({ description: 'The thumbprint of the public key (RFC 7638), as in the key set.' }),
    alg: Type.String(),
    madeAt: Type.String(),
    current: Type.Boolean({ description: 'Whether this server signs with it now.' }),
    revokedSince: Type.Union([Type.String(), Type.Null()], {
      description: 'What the key signed at this time or later is void. Null if it was not revoked.',
    }),
    reason: Type.Union([Type.String(), Type.Null()]),
  }),
);
export const SigningKeyList = named('SigningKeyList', Type.Object({ keys: Type.Array(ListedSigningKey) }));
export type ShownSigningKey = Static<typeof ListedSigningKey>;

const RevokeRequest = named(
  'RevokeSigningKeyRequest',
  Type.Object({
    since: nullable(
      Type.String({
        pattern: TIMESTAMP,
        description:
          'What the key signed at this time or later is void (RFC 3339). By default the present; never the future.',
      }),
    ),
    reason: Type.String({ minLength: 1, maxLength: REASON_CHARS, description: 'It is public.' }),
  }),
);

/** The instant from which signatures are void. @throws Rejection SCHEMA_INVALID when it is not an instant, or has not come yet */
const voidSince = (text: string | null | undefined, now: Date): string => {
  if (text === null || text === undefined) return now.toISOString();
  const instant = instantOf(text);
  if (instant !== null && instant <= now.getTime()) return new Date(instant).toISOString();
  const issues = [{ pointer: '/since', message: 'must not be in the future' }];
  throw new Rejection('SCHEMA_INVALID', { details: { issues } });
};

/** Routes that list, rotate and revoke the keys that sign. @param ownsServer whether a principal may change them */
export const signingKeyRoutes = (
  deps: ChangeSigningKeysDeps,
  ownsServer: (principal: Principal) => boolean,
): readonly RouteDefinition[] => {
  const shown = ({ kid, alg, madeAt, revoked }: SigningKey): ShownSigningKey => ({
    kid,
    alg,
    madeAt,
    current: kid === deps.signingKeys.current.kid,
    revokedSince: revoked?.since ?? null,
    reason: revoked?.reason ?? null,
  });
  const forbids = (principal: Principal): Rejection | null =>
    ownsServer(principal)
      ? null
      : new Rejection('FORBIDDEN', {
          message: 'Only an owner key of the tenant "local" can change the signing keys: all tenants share them.',
        });
  const changes = { tag: 'Keys', scope: 'admin', ext: true, forbids } as const;
  return [
    route('GET', '/signing-keys', {
      operationId: 'listSigningKeys',
      tag: 'Keys',
      summary: 'List the keys that sign, and which of them were revoked',
      description: 'Oldest first. The public keys themselves are in `/.well-known/jwks.json`.',
      scope: null,
      ext: true,
      responses: ok('The keys.', SigningKeyList, examples.signingKeys),
      handler: () => Promise.resolve({ body: { keys: deps.signingKeys.all().map(shown) } }),
    }),
    route('POST', '/signing-keys/rotate', {
      ...changes,
      operationId: 'rotateSigningKeys',
      summary: 'Make a new key, which signs from now on',
      description:
        'Only an owner key of the tenant `local` can do so. What the old key signed stays valid, and the next checkpoint of each log is signed by both.',
      refuses: ['SIGNING_KEYS_FULL', 'CONFLICT'],
      responses: { 201: { description: 'The new key.', schema: ListedSigningKey, example: examples.rotated } },
      handler: async (call) => ({ status: 201, body: shown(await rotateSigningKey(deps, contextOf(call))) }),
    }),
    route('POST', '/signing-keys/:kid/revoke', {
      ...changes,
      operationId: 'revokeSigningKey',
      summary: 'Revoke a key as of a time',
      description:
        'Only an owner key of the tenant `local` can do so. What the key signed since then no longer verifies on this server. Revoking again can only move the time back.',
      params: Type.Object({
        kid: pathId('The thumbprint of the key.', 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI'),
      }),
      body: RevokeRequest,
      example: examples.revokeSigning,
      refuses: ['SIGNING_KEY_NOT_FOUND', 'SIGNING_KEY_CURRENT', 'CONFLICT'],
      responses: ok('The key as it is now.', ListedSigningKey, examples.revokedSigning),
      handler: async (call) => {
        const { since, reason } = call.body;
        const revocation = { kid: call.params.kid, since: voidSince(since, deps.clock.now()), reason };
        return { body: shown(await revokeSigningKeySince(deps, revocation, contextOf(call))) };
      },
    }),
  ];
};
