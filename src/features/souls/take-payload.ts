import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Publication, SoulArchive } from '../../ports/soul-archive.js';

/** How long a payload that is no longer staged is staged again, in milliseconds: it is published immediately. */
const STAGED_AGAIN_MS = 600_000;
/** How often a payload is staged again if it is dropped before it can be published. */
const TRIES = 2;

export type UploadDeps = { readonly archive: SoulArchive; readonly clock: Pick<Clock, 'now'> };

/** A payload whose digest was computed from these bytes, and the tenant of its grant. */
export type Upload = { readonly digest: string; readonly tenant: string; readonly bytes: Uint8Array };

/**
 * Publishes an uploaded payload; its staged copy may have expired, or belong to another tenant.
 * @throws Rejection BUSY if it is dropped faster than published (another server's clock is far ahead), and errors from the archive
 */
export const takePayload = async (
  { archive, clock }: UploadDeps,
  { digest, tenant, bytes }: Upload,
): Promise<Publication> => {
  for (let tries = 0; ; tries += 1) {
    const publication = await archive.publish(digest, { tenant, at: clock.now() });
    if (publication !== null) return publication;
    if (tries === TRIES) throw new Rejection('BUSY', { retryAfter: 1 });
    const expiresAt = new Date(clock.now().getTime() + STAGED_AGAIN_MS);
    await archive.stage(digest, bytes, { tenant, expiresAt });
  }
};
