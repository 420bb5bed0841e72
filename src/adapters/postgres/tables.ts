import type { Generated } from 'kysely';

/** The tables as `migrations.ts` leaves them. Instants are milliseconds since 1970, except where the database's own clock is used. */
export type Tables = {
  readonly builds: { id: Generated<number>; name: string; version: number; position: number; live: boolean };
  /** Dropped builds whose rows must still be swept. */
  readonly dropped_builds: { id: number };
  readonly rows: { build: number; key: string; partition: string; place: string; tag: string; row: string };
  readonly texts: {
    build: number;
    key: string;
    stream: string;
    place: string;
    text: string;
    words: string;
    embedder: string;
    vector: Buffer | null;
  };
  readonly passages: { build: number; place: number; key: string; at: number; words: string };
  readonly counts: { build: number; partition: string; place: string; name: string; count: number };
  readonly progress: { build: number; stream: string; revision: number };
  readonly parked: {
    build: number;
    stream: string;
    revision: number;
    event_id: string;
    type: string;
    reason: string;
    at: string;
  };
  readonly reservations: {
    /** SHA-256 of scope and key: short enough for an index, however long they are. */
    id: Buffer;
    digest: string;
    seed: string;
    expires: number;
    /** JSON; null while there is none. */
    answer: string | null;
    released: boolean;
    /** Whether the current attempt continues an earlier one. */
    resumed: boolean;
    owner: string;
    attempt: number;
    /** Completed once: no other request may use the key. */
    done: Generated<boolean>;
    tenant: Generated<string>;
    /** For an answer that counts against the tenant's budget. */
    bytes: Generated<number>;
  };
  readonly owners: { id: string; alive_until: Date };
  readonly rate_windows: { subject: string; started: number; ends: number; used: number; allowed: boolean };
  /** `tenant` is '' for a public payload, and `expires` then null. */
  readonly soul_archive: { digest: string; tenant: string; bytes: Buffer; expires: number | null; since: number };
  readonly soul_cids: { cid: string; digest: string };
  readonly log_places: { name: string; first: number; own: number; place: number; id: string };
  readonly key_usage: { key_id: string; used_at: string };
};
