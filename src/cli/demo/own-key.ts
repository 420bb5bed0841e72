import type { MindRequest } from '../../body/mind-request.js';

/** The demo's own key: without a rate limit, and worthless soon even if the demo is killed before it revokes it. */
export type OwnKey = { readonly keyId: string; readonly key: string };

const LIFETIME_MS = 3_600_000;
/** What the demo does: it plays, registers rules and reads histories. */
const SCOPES = ['npc', 'rules', 'audit'];

/**
 * Issues a key for one run (contract 11.4).
 * @param request sends with a key of scope `admin`
 * @throws MindError, for example `FORBIDDEN` when that key may not issue keys
 */
export const issueOwnKey = async (request: MindRequest, run: string, now: number): Promise<OwnKey> => {
  const issued = (await request('POST', '/keys', {
    name: `demo ${run}`,
    scopes: SCOPES,
    rateLimit: 'off',
    expiresAt: new Date(now + LIFETIME_MS).toISOString(),
  })) as OwnKey;
  return { keyId: issued.keyId, key: issued.key };
};

/** Revokes it. @throws MindError */
export const revokeOwnKey = async (request: MindRequest, { keyId }: OwnKey): Promise<void> => {
  await request('DELETE', `/keys/${encodeURIComponent(keyId)}`);
};
