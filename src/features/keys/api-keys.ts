import { localTenant, tenantsStream, tenantStream } from '../../kernel/base/stream-names.js';
import { hashApiKey, keyIdOf, makeApiKey, secretBytes } from './domain/api-key.js';
import {
  changeKey,
  createTenant,
  issueKey,
  issueOwnerKey,
  nameTenant,
  revokeKey,
  type ApiKeyChange,
  type NewKey,
  type TenantDecision,
} from './domain/decide.js';
import type { Principal } from '../../kernel/base/scopes.js';
import { type ApiKey, keyIn } from './domain/key-map.js';
import type { TenantState } from './domain/state.js';
import type { Tier } from '../../kernel/base/tiers.js';
import type { KeyUsage } from '../../ports/key-usage.js';
import type { Random } from '../../ports/random.js';
import type { KeyDirectory } from './key-directory.js';
import { tenantFold, tenantNamesFold } from './tenant-fold.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';

/** Dependencies of changes to a tenant. */
export type TenantDeps = CommandDeps & { readonly directory: KeyDirectory };

export type ApiKeyDeps = TenantDeps & {
  readonly random: Random;
  readonly keyUsage: KeyUsage;
  /** 32 bytes: `deriveKey(secret, 'api-key-hash')`. */
  readonly hashKey: Uint8Array;
};

/** One command and its source. New ids are derived from `commandId`, so a repeat makes the same ids. */
export type KeyCommand = { readonly commandId: string; readonly correlationId: string };

/** The requested properties of a key; everything else follows from the command. */
export type KeyWish = Pick<NewKey, 'name' | 'scopes' | 'rateLimit' | 'expiresAt' | 'test'>;

/** A key in a response. `key` is null if the same command issued it before: a key is shown once. */
export type IssuedKey = { readonly key: string | null; readonly issued: ApiKey };
export type ListedKey = { readonly issued: ApiKey; readonly lastUsedAt: string | null };

/** Makes a key's text and its stored form. */
export const draftKey = (
  deps: Pick<ApiKeyDeps, 'random' | 'hashKey'>,
  commandId: string,
  test: boolean,
): { readonly keyId: string; readonly token: string; readonly hash: string } => {
  const keyId = keyIdOf(commandId);
  const token = makeApiKey(keyId, deps.random.bytes(secretBytes), test);
  return { keyId, token, hash: hashApiKey(deps.hashKey, token) };
};

/** Issues a key on behalf of another one. Refuses with FORBIDDEN or UNAUTHORIZED; propagates errors from the event store. */
export const issueApiKey = async (
  deps: ApiKeyDeps,
  by: Principal,
  wish: KeyWish,
  command: KeyCommand,
): Promise<IssuedKey> => {
  const { keyId, token, hash } = draftKey(deps, command.commandId, wish.test);
  const context = { ...command, tenant: by.tenant, actor: by.keyId, causationId: null };
  const decided = await changeTenant(deps, context, (state) =>
    issueKey(state, by.keyId, { ...wish, keyId, hash }, deps.clock.now()),
  );
  return { key: decided.changed ? token : null, issued: issuedIn(decided.state, keyId) };
};

/** When keys were last used, by key id, at most a minute late. Ask for the keys of a page: a tenant may have issued many. */
export const withLastUse = async (
  { keyUsage }: Pick<ApiKeyDeps, 'keyUsage'>,
  keys: readonly ApiKey[],
): Promise<readonly ListedKey[]> => {
  const lastUsed = await keyUsage.lastUsedAt(keys.map(({ keyId }) => keyId));
  return keys.map((issued) => ({ issued, lastUsedAt: lastUsed.get(issued.keyId) ?? null }));
};

/** Changes the name or the limit of a key of the caller's tenant, with immediate effect on this server. Refuses as `changeKey`. */
export const changeApiKey = async (
  deps: ApiKeyDeps,
  by: Principal,
  keyId: string,
  change: ApiKeyChange,
  command: KeyCommand,
): Promise<ApiKey> => {
  const context = { ...command, tenant: by.tenant, actor: by.keyId, causationId: null };
  const { state } = await changeTenant(deps, context, (before) =>
    changeKey(before, by.keyId, keyId, change, deps.clock.now()),
  );
  return issuedIn(state, keyId);
};

/** Revokes a key of the caller's tenant, with immediate effect on this server. Refuses as `revokeKey`. */
export const revokeApiKey = async (
  deps: ApiKeyDeps,
  by: Principal,
  keyId: string,
  command: KeyCommand,
): Promise<void> => {
  const context = { ...command, tenant: by.tenant, actor: by.keyId, causationId: null };
  await changeTenant(deps, context, (state) => revokeKey(state, by.keyId, keyId, deps.clock.now()));
};

/** Whether a key may create tenants and change the signing keys: only an owner key of the tenant `local` may. */
export const ownsServer = (directory: KeyDirectory, principal: Principal): boolean =>
  principal.tenant === localTenant && keyIn(directory.tenant(localTenant).keys, principal.keyId)?.owner === true;

/**
 * Creates a tenant together with its owner key. The name is recorded first, so an existing tenant is always found at the next start. Refuses with
 * TENANT_EXISTS. `key` is null if the same command created it before.
 * @param actor the id of the requesting key, or `system`
 * @param key made by `draftKey`
 */
export const createTenantWithKey = async (
  deps: ApiKeyDeps,
  actor: string,
  tenantId: string,
  tier: Tier | null,
  key: ReturnType<typeof draftKey>,
  command: KeyCommand,
): Promise<IssuedKey> => {
  const onBehalf = { ...command, actor, causationId: null };
  await runCommand(deps, tenantsStream, tenantNamesFold, { ...onBehalf, tenant: localTenant }, (names) =>
    nameTenant(names, tenantId),
  );
  const decided = await changeTenant(deps, { ...onBehalf, tenant: tenantId }, (state) =>
    createTenant(state, tenantId, tier, ownerKey(key), deps.clock.now()),
  );
  return { key: decided.changed ? key.token : null, issued: issuedIn(decided.state, key.keyId) };
};

/** Adds an owner key to a tenant whose owner key was lost. Refuses with NOT_FOUND if the tenant does not exist. */
export const addOwnerKey = async (
  deps: ApiKeyDeps,
  tenantId: string,
  key: ReturnType<typeof draftKey>,
  command: KeyCommand,
): Promise<void> => {
  const context = { ...command, tenant: tenantId, actor: 'system', causationId: null };
  await changeTenant(deps, context, (state) => issueOwnerKey(state, ownerKey(key), deps.clock.now()));
};

const ownerKey = ({ keyId, hash }: ReturnType<typeof draftKey>): Omit<NewKey, 'scopes'> => ({
  keyId,
  hash,
  name: 'owner',
  rateLimit: null,
  expiresAt: null,
  test: false,
});

/** Decides on a tenant's stream, and applies the outcome to the directory before the request is answered. */
export const changeTenant = async (
  deps: TenantDeps,
  context: Command,
  decide: (state: TenantState) => TenantDecision,
): Promise<{ readonly changed: boolean; readonly state: TenantState }> => {
  const { events } = await runCommand(deps, tenantStream(context.tenant), tenantFold, context, decide);
  return { changed: events.length > 0, state: await deps.directory.refresh(context.tenant) };
};

const issuedIn = (state: TenantState, keyId: string): ApiKey => {
  const key = keyIn(state.keys, keyId);
  if (key === undefined) throw new Error(`the key ${keyId} was issued but cannot be found`);
  return key;
};
