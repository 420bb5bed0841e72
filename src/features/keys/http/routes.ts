import { Type } from '@sinclair/typebox';

import {
  type ApiKeyDeps,
  createTenantWithKey,
  draftKey,
  issueApiKey,
  type KeyCommand,
  listApiKeys,
  mayCreateTenants,
  revokeApiKey,
} from '../api-keys.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { privilegedScopes, type Scope, scopes } from '../../../kernel/base/scopes.js';
import type { ApiKey } from '../domain/state.js';
import { defaultTier, type Tier, tierNames } from '../../../kernel/base/tiers.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { type Call, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { nullable } from '../../../kernel/http/schemas.js';
import { TENANT_ID, TIMESTAMP } from '../../../kernel/http/patterns.js';
import { instantOf } from '../../../kernel/http/timestamp.js';

const scopeSchema = Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] });
const rateLimitSchema = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  windowSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
});
const shownRateLimit = Type.Union([rateLimitSchema, Type.Literal('off'), Type.Null()], {
  description: "The key's own limit. `off` means no limit; null means the limit of the tenant's tier or of the server.",
});

const newKeySchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  scopes: nullable(Type.Array(scopeSchema, { maxItems: 64, description: 'Default: all but `ops` and `admin`.' })),
  rateLimit: Type.Optional(shownRateLimit),
  expiresAt: nullable(
    Type.String({ pattern: TIMESTAMP, description: 'RFC 3339; the key is refused from this time on.' }),
  ),
  test: nullable(Type.Boolean({ description: 'Makes an `am_test_` key.' })),
});

const keyMembers = {
  keyId: Type.String(),
  name: Type.String(),
  scopes: Type.Array(scopeSchema),
  rateLimit: shownRateLimit,
  createdAt: Type.String(),
  expiresAt: Type.Union([Type.String(), Type.Null()]),
  test: Type.Boolean(),
  owner: Type.Boolean(),
};
const onceSchema = Type.Optional(Type.String({ description: 'The key, shown only once; absent in a repeat.' }));

export const KeyAnswer = Type.Object({ ...keyMembers, key: onceSchema });

const newTenantSchema = Type.Object({
  tenantId: Type.String({ pattern: TENANT_ID }),
  tier: Type.Optional(Type.Unsafe<Tier | null>({ type: ['string', 'null'], enum: [...tierNames, null] })),
});

const present = ({ keyId, name, scopes, rateLimit, createdAt, expiresAt, test, owner }: ApiKey) => ({
  keyId,
  name,
  scopes,
  rateLimit,
  createdAt,
  expiresAt,
  test,
  owner,
});

const shownOnce = (key: string | null) => (key === null ? {} : { key });
/** The part of a response that is kept for repeats. */
const withoutKey = (body: Json): Json => {
  if (!isObject(body)) return body;
  const { key: _shownOnce, ...kept } = body;
  return kept;
};
const commandOf = (call: Call): KeyCommand => ({ commandId: call.commandId, correlationId: call.requestId });

/** The instant as stored, or null. @throws Rejection SCHEMA_INVALID when it is not an instant or has passed */
const expiry = (text: string | null | undefined, now: Date): string | null => {
  if (text === null || text === undefined) return null;
  const instant = instantOf(text);
  if (instant !== null && instant > now.getTime()) return new Date(instant).toISOString();
  const issues = [{ pointer: '/expiresAt', message: 'must be an instant in the future' }];
  throw new Rejection('SCHEMA_INVALID', { details: { issues } });
};

const defaultScopes = scopes.filter((scope) => !privilegedScopes.includes(scope));

const common = { tag: 'Keys', scope: 'admin', ext: true } as const;

/** Routes that issue, list and revoke keys, and create tenants. */
export const keyRoutes = (deps: ApiKeyDeps): readonly RouteDefinition[] => [
  route('POST', '/keys', {
    ...common,
    operationId: 'issueKey',
    summary: 'Issues an API key',
    description: 'The key is shown only once. A key grants only scopes that it has itself.',
    body: newKeySchema,
    responses: {
      201: { description: 'The key.', schema: KeyAnswer },
    },
    retention: 'always',
    keepAnswer: withoutKey,
    handler: async (call) => {
      const { name, rateLimit, test, ...body } = call.body;
      const wish = {
        name,
        scopes: body.scopes ?? defaultScopes,
        rateLimit: rateLimit ?? null,
        expiresAt: expiry(body.expiresAt, deps.clock.now()),
        test: test ?? false,
      };
      const { key, issued } = await issueApiKey(deps, call.principal, wish, commandOf(call));
      return { status: 201, body: { ...present(issued), ...shownOnce(key) } };
    },
  }),
  route('GET', '/keys', {
    ...common,
    operationId: 'listKeys',
    summary: "Lists the tenant's keys, oldest first",
    description: 'Revoked keys are not listed. `lastUsedAt` is at most a minute late.',
    query: Type.Object(pageQuery),
    responses: ok(
      'The keys, without their secrets.',
      Type.Array(Type.Object({ ...keyMembers, lastUsedAt: Type.Union([Type.String(), Type.Null()]) })),
    ),
    handler: async (call) => {
      const page = pageOf(call.query);
      const keys = (await listApiKeys(deps, call.principal.tenant))
        .map((key) => ({ ...key, order: `${key.issued.createdAt} ${key.issued.keyId}` }))
        .sort((one, other) => (one.order < other.order ? -1 : 1))
        .filter(({ order }) => page.beyond === undefined || order > page.beyond)
        .slice(0, page.limit + 1);
      const shown = keys.slice(0, page.limit);
      return {
        headers: nextLink(call, page, shown, keys.length > page.limit),
        body: shown.map(({ issued, lastUsedAt }) => ({ ...present(issued), lastUsedAt })),
      };
    },
  }),
  route('DELETE', '/keys/:keyId', {
    ...common,
    operationId: 'revokeKey',
    summary: 'Revokes a key',
    description:
      'Effective at once on the server that answers, on others within a second. The last admin key that does not expire stays.',
    params: Type.Object({ keyId: Type.String() }),
    responses: { 204: { description: 'The key is no longer accepted.' } },
    handler: async (call) => {
      await revokeApiKey(deps, call.principal, call.params.keyId, commandOf(call));
      return { status: 204 };
    },
  }),
  route('POST', '/tenants', {
    ...common,
    operationId: 'createTenant',
    summary: 'Creates a tenant and its owner key',
    description: 'Only the owner key of the tenant `local` may do this. The new key is shown only once.',
    forbids: (principal) =>
      mayCreateTenants(deps.directory, principal)
        ? null
        : new Rejection('FORBIDDEN', { message: 'Only an owner key of the tenant "local" creates tenants.' }),
    body: newTenantSchema,
    responses: {
      201: {
        description: 'The tenant and its owner key.',
        schema: Type.Object({ tenantId: Type.String(), tier: Type.String(), keyId: Type.String(), key: onceSchema }),
      },
    },
    retention: 'always',
    keepAnswer: withoutKey,
    handler: async (call) => {
      const { tenantId } = call.body;
      const tier = call.body.tier ?? defaultTier;
      const draft = draftKey(deps, call.commandId, false);
      const made = await createTenantWithKey(deps, call.principal.keyId, tenantId, tier, draft, commandOf(call));
      return { status: 201, body: { tenantId, tier, keyId: made.issued.keyId, ...shownOnce(made.key) } };
    },
  }),
];
