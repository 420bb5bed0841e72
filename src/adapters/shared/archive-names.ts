import { isContentDigest } from '../../domain/shared/content-digest.js';

const TENANT = /^[a-z0-9_-]{1,64}$/;

/** What a payload is kept under becomes part of a path or a key. @throws Error when it is no digest, or no id of a tenant (contract 1.6) */
export const requireArchiveNames = (digest: string, tenant: string): void => {
  if (!isContentDigest(digest)) throw new Error('a payload is named by its digest');
  if (!TENANT.test(tenant)) throw new Error('a payload is staged by a tenant');
};
