import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';

const OWNER = /^[A-Za-z0-9_-]{1,64}$/;

/** The name of a payload, which becomes part of a path or a key. @throws Error when it is neither a digest nor an id made by this server */
export const requireArchiveNames = (digest: string, tenant: string): void => {
  if (!isContentDigest(digest)) throw new Error('a payload is named by its digest');
  if (!OWNER.test(tenant)) throw new Error('a payload is staged by a tenant, or for an import');
};

/** Both names of a payload, of which one is a CID. @throws Error when one has another form */
export const requireCidOfDigest = (cid: string, digest: string): void => {
  if (!isIpfsCid(cid) || !isContentDigest(digest)) throw new Error('a CID names a payload that has a digest');
};

/** Whether a payload counts among what a tenant has staged, and those whose names begin with `others`. */
export const isStagedBy =
  (tenant: string, others: string | undefined) =>
  (staged: { readonly tenant: string }): boolean =>
    staged.tenant === tenant || (others !== undefined && staged.tenant.startsWith(others));
