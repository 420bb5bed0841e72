/** The most bytes that one payload may have. */
export const MAX_ARCHIVED_BYTES = 16 * 1024 * 1024;

/** Whose payload it is (a tenant's, an import's, or what a tenant's levels are kept as), and until when it is kept unless it is published. */
export type Staging = { readonly tenant: string; readonly expiresAt: Date };

/** Whether a payload was made public now, or had been before. */
export type Publication = 'published' | 'wasPublic';

/**
 * The built-in archive: payloads of at most MAX_ARCHIVED_BYTES, named by their digest (kernel/crypto/content-digest.ts) and never
 * changed. A payload is staged first, by one or several owners, and only this server sees it. Once it is published, it stays. Maps of levels are
 * staged permanently and never published.
 *
 * The caller made the digest from the bytes; the archive does not do so again when it takes them. What is read has the digest that it is read by:
 * damaged bytes are logged and count as absent. A name that is no digest is absent too; staging under one is a defect, and throws an Error.
 * Atomicity: a payload is there whole or not at all. Durability: `stage`, `publish` and `nameByCid` resolve once a loss of power changes nothing.
 * A CID may name a payload as well (kernel/crypto/ipfs-cid.ts). Its caller made it from the bytes.
 * Failures: Rejection STORE_FULL, STORE_UNAVAILABLE or DATABASE_UNAVAILABLE. After one it is not known whether the call took effect; every call may be
 * repeated, and has the same effect once or often.
 */
export interface SoulArchive {
  /** Keeps a payload that is not public yet. Staged again by the same tenant, it is kept until the later of the two times. A public one stays as it is. */
  stage(digest: string, bytes: Uint8Array, staging: Staging): Promise<void>;
  /** Makes public what this tenant staged; null when it staged no such payload and nobody has published it. */
  publish(digest: string, by: Pick<Staging, 'tenant'>): Promise<Publication | null>;
  /** The payload, staged or public; null when there is none. For the server itself: a staged payload is not for clients. */
  read(digest: string): Promise<Uint8Array | null>;
  /** The payload, if it is public. */
  readPublic(digest: string): Promise<Uint8Array | null>;
  /** Drops what this tenant staged, unless it is public; nothing when it staged no such payload. */
  unstage(digest: string, by: Pick<Staging, 'tenant'>): Promise<void>;
  /** How many bytes this tenant has staged that are not public yet, together with all whose names begin with `others`, if it is given. */
  stagedBytes(tenant: string, others?: string): Promise<number>;
  /** Remembers for good which payload a CID names; the payload need not be there. Another form than a CID's is a defect, and throws an Error. */
  nameByCid(cid: string, digest: string): Promise<void>;
  /** The digest of the payload that a CID names; null when nobody has told. */
  digestOfCid(cid: string): Promise<string | null>;
  /** Drops payloads that were to be kept until `before` at the latest and are not public, at most so many. Returns how many: when fewer than `limit`, no more are due. */
  dropStaged(before: Date, limit: number): Promise<number>;
}
