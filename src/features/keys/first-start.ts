import { Rejection } from '../../kernel/base/rejection.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import type { OwnerKeyFile } from '../../ports/owner-key-file.js';
import { addOwnerKey, type ApiKeyDeps, createTenantWithKey, draftKey } from './api-keys.js';
import { localTenant } from '../../kernel/base/stream-names.js';
import { makeCommandId } from '../../kernel/streams/command-id.js';

/** A key to be shown only once, and the file it was written to. `path` is null if it is not in a file. */
export type OwnerKey = { readonly key: string; readonly path: string | null };

/**
 * Creates the tenant `local` and its owner key if they do not exist, and completes a start that was killed half way. Null if the tenant already
 * existed; then nothing was changed.
 * @throws StartProblem if the owner-key file cannot be written; propagates errors from the event store
 */
export const firstStart = async (deps: ApiKeyDeps, file: OwnerKeyFile): Promise<OwnerKey | null> => {
  // Nothing can be added to a stream that was changed. The prepared key stays until that is mended.
  if (deps.directory.problemOf(localTenant) !== null) return null;
  const finished = await finishPrepared(deps, file);
  if (finished !== null) return finished;
  if (deps.directory.tenant(localTenant).tenantId !== null) return null;
  const commandId = makeCommandId(deps.clock, deps.random);
  const draft = draftKey(deps, commandId, false);
  await file.prepare(draft.token);
  try {
    await createTenantWithKey(deps, 'system', localTenant, null, draft, { commandId, correlationId: commandId });
  } catch (error) {
    if (!(error instanceof Rejection && error.code === 'TENANT_EXISTS')) throw error;
    // Another server on the same store was first; its key counts.
    await file.discard();
    return null;
  }
  await file.settle();
  return { key: draft.token, path: file.path };
};

/**
 * Adds an owner key to a tenant whose owner key was lost. The key of `local` replaces the one in the file; other tenants' keys are not in a file.
 * Keys that were issued before stay valid.
 * @throws StartProblem if the tenant does not exist, its stream cannot be read or was changed, or the file cannot be written; propagates errors from the event store
 */
export const recoverOwnerKey = async (deps: ApiKeyDeps, file: OwnerKeyFile, tenantId: string): Promise<OwnerKey> => {
  const problem = deps.directory.problemOf(tenantId);
  if (problem !== null) {
    throw new StartProblem(
      `A new key would not be accepted either: in the stream "${problem.stream}", ${problem.message}. Restore it from a backup.`,
    );
  }
  if (deps.directory.tenant(tenantId).tenantId === null) {
    throw new StartProblem(`No tenant "${tenantId}" exists.`);
  }
  await finishPrepared(deps, file);
  const commandId = makeCommandId(deps.clock, deps.random);
  const draft = draftKey(deps, commandId, false);
  const inFile = tenantId === localTenant;
  if (inFile) await file.prepare(draft.token);
  await addOwnerKey(deps, tenantId, draft, { commandId, correlationId: commandId });
  if (inFile) await file.settle();
  return { key: draft.token, path: inFile ? file.path : null };
};

/** A prepared key that was recorded becomes the file's content; one that was not recorded opens nothing and is discarded. */
const finishPrepared = async (deps: ApiKeyDeps, file: OwnerKeyFile): Promise<OwnerKey | null> => {
  const prepared = await file.prepared();
  if (prepared === null) return null;
  if (deps.directory.find(prepared, deps.clock.now()) === null) {
    await file.discard();
    return null;
  }
  await file.settle();
  return { key: prepared, path: file.path };
};
