/** The maximum size of one payload, in bytes. */
export const MAX_ARCHIVED_BYTES = 16 * 1024 * 1024;

/** The owner of a payload (a tenant, an import, or the owner of a tenant's levels), and how long it is kept unless it is published. */
export type Staging = { readonly tenant: string; readonly expiresAt: Date };

/** Who publishes a payload, and when: it becomes due for `dropPublic` by that time. */
export type Publishing = { readonly tenant: string; readonly at: Date };

/** Whether a payload was published now, or had been before. */
export type Publication = 'published' | 'wasPublic';

/**
 * The built-in archive: payloads of at most MAX_ARCHIVED_BYTES, named by their digest (kernel/crypto/content-digest.ts) and never changed. A payload
 * is staged first, by one or several owners, and only this server sees it. It stays public until it is withdrawn or dropped. Maps of levels are staged
 * permanently and never published.
 *
 * The caller made the digest from the bytes; the archive does not compute it again when it stores them. A payload that is read has the requested
 * digest: damaged bytes are logged and count as absent. A name that is not a digest is absent too; staging under one is a defect, and throws an
 * Error. Atomicity: a payload exists completely or not at all. Durability: `stage`, `publish`, `withdraw` and `nameByCid` resolve once a loss of power changes
 * nothing. A CID may name a payload as well (kernel/crypto/ipfs-cid.ts). Its caller made it from the bytes.
 * Failures: Rejection STORE_FULL, STORE_UNAVAILABLE or DATABASE_UNAVAILABLE. After one it is unknown whether the call took effect; every call may be
 * repeated, and has the same effect once or several times.
 */
export interface SoulArchive {
  /**
   * Keeps a payload that is not public yet. If the same tenant stages it again, it is kept until the later of the two times. A public one is
   * unchanged.
   */
  stage(digest: string, bytes: Uint8Array, staging: Staging): Promise<void>;
  /** Publishes what this tenant staged; null if it staged no such payload and none is public. A public one keeps its time. */
  publish(digest: string, by: Publishing): Promise<Publication | null>;
  /** Removes a public payload; staged copies are kept, and may be published again. Whether it was public. */
  withdraw(digest: string): Promise<boolean>;
  /** The payload, staged or public; null if there is none. For the server itself: a staged payload is not for clients. */
  read(digest: string): Promise<Uint8Array | null>;
  /** The payload, if it is public. */
  readPublic(digest: string): Promise<Uint8Array | null>;
  /** Drops what this tenant staged, unless it is public; does nothing if it staged no such payload. */
  unstage(digest: string, by: Pick<Staging, 'tenant'>): Promise<void>;
  /** How many bytes this tenant has staged that are not public yet, together with all owners whose names begin with `others`, if given. */
  stagedBytes(tenant: string, others?: string): Promise<number>;
  /** Records permanently which payload a CID names; the payload need not exist. A string that is not a CID is a defect, and throws an Error. */
  nameByCid(cid: string, digest: string): Promise<void>;
  /** The digest of the payload that a CID names; null if none is recorded. */
  digestOfCid(cid: string): Promise<string | null>;
  /**
   * Drops at most `limit` payloads that were to be kept until `before` at the latest and are not public. Returns how many: if fewer than `limit`, no
   * more are due.
   */
  dropStaged(before: Date, limit: number): Promise<number>;
  /**
   * Drops at most `limit` payloads that were published at `before` or earlier; staged copies are kept. Returns how many: if fewer than `limit`, no
   * more are due. Repeat it with the same `before` until then: a round may continue where its last call ended.
   */
  dropPublic(before: Date, limit: number): Promise<number>;
}
