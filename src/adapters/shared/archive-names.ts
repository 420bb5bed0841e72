import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';

const OWNER = /^[A-Za-z0-9_-]{1,64}$/;

/** Checks the name of a payload, which becomes part of a path or a key. @throws Error if it is neither a digest nor an id made by this server */
export const requireArchiveNames = (digest: string, tenant: string): void => {
  if (!isContentDigest(digest)) throw new Error('a payload is named by its digest');
  if (!OWNER.test(tenant)) throw new Error('a payload is staged by a tenant, or for an import');
};

/** Checks both names of a payload, one of which is a CID. @throws Error if one has a different form */
export const requireCidOfDigest = (cid: string, digest: string): void => {
  if (!isIpfsCid(cid) || !isContentDigest(digest)) throw new Error('a CID names a payload that has a digest');
};

/** Whether a payload counts among those staged by a tenant and by owners whose names begin with `others`. */
export const isStagedBy =
  (tenant: string, others: string | undefined) =>
  (staged: { readonly tenant: string }): boolean =>
    staged.tenant === tenant || (others !== undefined && staged.tenant.startsWith(others));
