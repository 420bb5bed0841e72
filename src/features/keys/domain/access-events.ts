import { decoderOf } from '../../../kernel/base/decoder.js';

/**
 * The events of a tenant's stream of accesses: who read its histories, or acted with a scope that is not for playing. The shapes are storage: they
 * never change and are only upcast (docs/adr/0004).
 */
export type AccessEvent = {
  type: 'HistoryAccessed';
  data: {
    readonly keyId: string;
    /** The operation, as OpenAPI names it. */
    readonly operation: string;
    /** The mind that the path names; null if it names none. */
    readonly npcId: string | null;
    /** When the minute began in which this process accepted the requests, in RFC 3339. */
    readonly minute: string;
    /** How many requests these were. */
    readonly count: number;
  };
};

export type HistoryAccess = AccessEvent['data'];

/** The decoder of streams of accesses. */
export const accessEvents = decoderOf<AccessEvent>({ HistoryAccessed: [] });
