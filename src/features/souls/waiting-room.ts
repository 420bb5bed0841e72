import { Rejection } from '../../kernel/base/rejection.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import type { SoulArchive } from '../../ports/soul-archive.js';

/** How many bytes of a tenant's souls may wait for their upload, or to arrive. Concurrent requests and processes may each exceed it by one soul. */
export const MAX_WAITING_BYTES = 256 * 1024 * 1024;
const RETRY_SECONDS = 60;
/** How much of the tenant's digest is in the name: together with an import's id, it fits into an archive's names. */
const TAG_CHARS = 16;

/** The prefix of the owner names under which a tenant's imports are staged. No tenant id begins like this: it has no capital letters. */
const importsOf = (tenant: string): string => `I${sha256Base64url(tenant).slice(0, TAG_CHARS)}_`;

/**
 * The owner of a received soul: each import has its own copy, which is dropped when the import ends, independently of other imports of the same soul.
 */
export const stagedFor = (tenant: string, importId: string): { readonly tenant: string } => ({
  tenant: `${importsOf(tenant)}${importId}`,
});

/**
 * @param soul the import to which a received soul belongs: what that import has already staged, up to the soul's size, does not count against the
 * limit
 * @throws Rejection SOULS_WAITING while too many souls of the tenant are waiting to be uploaded or imported; errors from the archive
 */
export const requireWaitingRoom = async (
  archive: Pick<SoulArchive, 'stagedBytes'>,
  tenant: string,
  soul?: { readonly importId: string; readonly bytes: number },
): Promise<void> => {
  const waiting = await archive.stagedBytes(tenant, importsOf(tenant));
  if (waiting < MAX_WAITING_BYTES) return;
  const own =
    soul === undefined ? 0 : Math.min(soul.bytes, await archive.stagedBytes(stagedFor(tenant, soul.importId).tenant));
  if (waiting - own < MAX_WAITING_BYTES) return;
  throw new Rejection('SOULS_WAITING', { details: { limitBytes: MAX_WAITING_BYTES }, retryAfter: RETRY_SECONDS });
};
