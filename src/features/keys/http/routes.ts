import { Type } from '@sinclair/typebox';

import {
  type ApiKeyDeps,
  changeApiKey,
  createTenantWithKey,
  draftKey,
  issueApiKey,
  type KeyCommand,
  ownsServer,
  revokeApiKey,
  withLastUse,
} from '../api-keys.js';
import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { isPlayerText } from '../../../kernel/base/player-text.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { type Scope, scopes, type ScopeSet, scopeSetNames, scopeSets } from '../../../kernel/base/scopes.js';
import type { KeyLimit } from '../domain/events.js';
import { type ApiKey, keysIn } from '../domain/key-map.js';
import { scopesOf } from '../domain/state.js';
import { defaultTier, type Tier, tierNames } from '../../../kernel/base/tiers.js';
import { requireKnownMembers } from '../../../kernel/http/guard/known-members.js';
import { nextLink, pageOf, pageQuery } from '../../../kernel/http/page.js';
import { type Call, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { named } from '../../../kernel/http/named.js';
import { nullable, oneOf, pathId } from '../../../kernel/http/schemas.js';
import { keyExamples as examples } from './examples.js';
import { TENANT_ID } from '../../../kernel/http/patterns.js';
import { instantOf, TIMESTAMP } from '../../../kernel/base/timestamp.js';

const scopeSchema = named('Scope', Type.Unsafe<Scope>({ type: 'string', enum: [...scopes] }));
const rateLimitSchema = named(
  'RateLimit',
  Type.Object({
    limit: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'The maximum number of requests in the window.',
    }),
    windowSeconds: Type.Integer({ minimum: 1, maximum: 86_400, description: 'The length of the window in seconds.' }),
  }),
);
const shownRateLimit = Type.Union([rateLimitSchema, Type.Literal('off'), Type.Null()], {
  description:
    "The limit of the key. `off` means no limit; null means the limit of the tenant's tier or of the server.",
});

const newKeySchema = named(
  'IssueKeyRequest',
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 128 }),
    scopes: nullable(
      Type.Array(scopeSchema, { maxItems: 64, description: 'By default those of the set `game`. Not with `set`.' }),
    ),
    set: Type.Optional(
      Type.Unsafe<ScopeSet | null>({
        type: ['string', 'null'],
        enum: [...scopeSetNames, null],
        description: 'A named set of scopes, instead of `scopes`.',
      }),
    ),
    rateLimit: Type.Optional(shownRateLimit),
    expiresAt: nullable(
      Type.String({ pattern: TIMESTAMP, description: 'The key is refused from this time on (RFC 3339).' }),
    ),
    test: nullable(Type.Boolean({ description: 'Whether the key starts with `am_test_`.' })),
  }),
);

const changeSchema = named(
  'ChangeKeyRequest',
  Type.Object({
    name: nullable(Type.String({ minLength: 1, maxLength: 128, description: 'Without it, the name stays.' })),
    rateLimit: Type.Optional(shownRateLimit),
  }),
);

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
const onceSchema = Type.Optional(
  Type.String({ description: 'The key. It is shown only once and absent from a repeat.' }),
);

export const KeyAnswer = named('IssuedKey', Type.Object({ ...keyMembers, key: onceSchema }));
const KeyList = named(
  'KeyList',
  Type.Array(
    named(
      'ListedKey',
      Type.Object({
        ...keyMembers,
        revoked: Type.Boolean(),
        revokedAt: Type.Union([Type.String(), Type.Null()]),
        lastUsedAt: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  ),
);

const newTenantSchema = named(
  'CreateTenantRequest',
  Type.Object({
    tenantId: Type.String({ pattern: TENANT_ID, description: '1 to 64 of the characters a-z, 0-9, "_" and "-".' }),
    tier: Type.Optional(Type.Unsafe<Tier | null>({ type: ['string', 'null'], enum: [...tierNames, null] })),
  }),
);
const CreatedTenant = named(
  'CreatedTenant',
  Type.Object({ tenantId: Type.String(), tier: oneOf(tierNames), keyId: Type.String(), key: onceSchema }),
);

const present = ({ keyId, name, scopes: granted, rateLimit, createdAt, expiresAt, test, owner }: ApiKey) => ({
  keyId,
  name,
  scopes: scopesOf({ owner, scopes: granted }),
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
  const issues = [{ pointer: '/expiresAt', message: 'must be in the future' }];
  throw new Rejection('SCHEMA_INVALID', { details: { issues } });
};

/** @throws Rejection SCHEMA_INVALID for a name that lists cannot show, as for players */
const requireName = (name: string): void => {
  if (isPlayerText(name)) return;
  const message = 'must be text without control characters, and not only spaces';
  throw new Rejection('SCHEMA_INVALID', { details: { issues: [{ pointer: '/name', message }] } });
};

/** Other members of a limit are ignored, as elsewhere. */
const wishedLimit = (given: KeyLimit | undefined): KeyLimit | undefined =>
  isObject(given) ? { limit: given.limit, windowSeconds: given.windowSeconds } : given;

/** @throws Rejection SCHEMA_INVALID for both scopes and a set */
const wishedScopes = (
  granted: readonly Scope[] | null | undefined,
  set: ScopeSet | null | undefined,
): readonly Scope[] => {
  if (granted === null || granted === undefined) return scopeSets[set ?? 'game'];
  if (set === null || set === undefined) return granted;
  const issues = [{ pointer: '/set', message: 'must not be sent together with scopes' }];
  throw new Rejection('SCHEMA_INVALID', { details: { issues } });
};

const common = { tag: 'Keys', scope: 'admin', ext: true } as const;
/** Without one of these, a key may do more, more often or for longer than was meant. */
const deciding = { decidesBy: ['/scopes', '/set', '/rateLimit', '/expiresAt'] };

/** Routes that issue, list and revoke keys, and create tenants. */
export const keyRoutes = (deps: ApiKeyDeps): readonly RouteDefinition[] => [
  route('POST', '/keys', {
    ...common,
    operationId: 'issueKey',
    summary: 'Issue an API key',
    description:
      'The key is shown only once. You can grant only scopes that your own key has. Members that do not exist are refused.',
    body: newKeySchema,
    deciding,
    example: examples.issue,
    refuses: ['CONFLICT', 'MEMBER_MISSPELT', 'MEMBER_UNKNOWN'],
    responses: {
      201: { description: 'The key.', schema: KeyAnswer, example: examples.issued },
    },
    retention: 'always',
    keepAnswer: withoutKey,
    handler: async (call) => {
      requireKnownMembers(call.body, newKeySchema);
      const { name, rateLimit, test, ...body } = call.body;
      requireName(name);
      const wish = {
        name,
        scopes: wishedScopes(body.scopes, body.set),
        rateLimit: wishedLimit(rateLimit) ?? null,
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
    orScope: 'audit',
    summary: 'List API keys',
    description:
      'Oldest first. The scope `audit` allows this too, because histories name keys. `lastUsedAt` may be up to a minute old.',
    query: Type.Object({
      ...pageQuery,
      revoked: Type.Optional(
        Type.Boolean({ description: 'Also list revoked keys, so that histories that name them can be read.' }),
      ),
    }),
    responses: ok('The keys, without their secrets.', KeyList, examples.list),
    handler: async (call) => {
      const page = pageOf(call.query);
      const keys = keysIn(deps.directory.tenant(call.principal.tenant).keys)
        .filter(({ revoked }) => !revoked || call.query.revoked === true)
        .map((key) => ({ key, order: `${key.createdAt} ${key.keyId}` }))
        .filter(({ order }) => page.beyond === undefined || order > page.beyond)
        .sort((one, other) => (one.order < other.order ? -1 : 1))
        .slice(0, page.limit + 1);
      const shown = keys.slice(0, page.limit);
      const used = await withLastUse(
        deps,
        shown.map(({ key }) => key),
      );
      return {
        headers: nextLink(call, page, shown, keys.length > page.limit),
        body: used.map(({ issued, lastUsedAt }) => {
          const { revoked, revokedAt } = issued;
          return { ...present(issued), revoked, revokedAt, lastUsedAt };
        }),
      };
    },
  }),
  route('PATCH', '/keys/:keyId', {
    ...common,
    operationId: 'changeKey',
    summary: 'Change the name or the rate limit of an API key',
    description:
      'What the body leaves out stays, and `rateLimit: null` restores the default. You can change only keys whose scopes your own key has. Members that do not exist are refused: no other property of a key can change. The new limit counts immediately on the server that responds, on others within a second.',
    params: Type.Object({ keyId: pathId('The id of the key.', '0YpwQ3uKPLZPiG9fP') }),
    body: changeSchema,
    deciding: { decidesBy: ['/rateLimit'] },
    example: examples.change,
    refuses: ['KEY_NOT_FOUND', 'CONFLICT', 'MEMBER_MISSPELT', 'MEMBER_UNKNOWN'],
    responses: ok('The key as it is now.', KeyAnswer, examples.changed),
    handler: async (call) => {
      requireKnownMembers(call.body, changeSchema);
      const { name } = call.body;
      if (typeof name === 'string') requireName(name);
      const rateLimit = wishedLimit(call.body.rateLimit);
      const change = { ...(typeof name === 'string' ? { name } : {}), ...defined({ rateLimit }) };
      const changed = await changeApiKey(deps, call.principal, call.params.keyId, change, commandOf(call));
      return { body: present(changed) };
    },
  }),
  route('DELETE', '/keys/:keyId', {
    ...common,
    operationId: 'revokeKey',
    summary: 'Revoke an API key',
    description:
      'The server that responds refuses the key immediately, other servers within a second. You can revoke only keys whose scopes your own key has, and, of those that do not expire, neither the last one with every scope nor the last one with `admin`.',
    params: Type.Object({ keyId: pathId('The id of the key.', '0YpwQ3uKPLZPiG9fP') }),
    refuses: ['KEY_NOT_FOUND', 'CONFLICT', 'LAST_ADMIN_KEY'],
    responses: { 204: { description: 'The key is no longer accepted.' } },
    handler: async (call) => {
      await revokeApiKey(deps, call.principal, call.params.keyId, commandOf(call));
      return { status: 204 };
    },
  }),
  route('POST', '/tenants', {
    ...common,
    operationId: 'createTenant',
    summary: 'Create a tenant and its owner key',
    description: 'Only the owner key of the tenant `local` can create tenants. The new key is shown only once.',
    forbids: (principal) =>
      ownsServer(deps.directory, principal)
        ? null
        : new Rejection('FORBIDDEN', { message: 'Only an owner key of the tenant "local" can create tenants.' }),
    body: newTenantSchema,
    example: examples.tenant,
    refuses: ['TENANT_EXISTS', 'CONFLICT'],
    responses: {
      201: {
        description: 'The tenant and its owner key.',
        schema: CreatedTenant,
        example: examples.created,
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
