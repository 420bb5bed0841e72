import type { ProposedEvent } from './log.js';

/** The differences between servers that the adapter can notice. */
export type Like = {
  /** Its version, as it reports it. */
  readonly version: string;
  /** The size of an event towards the limit of one append, in bytes. */
  readonly appendBytes: (event: ProposedEvent) => number;
  /** Whether a live subscriber that does not keep up is dropped; if not, it is kept, returns to history and catches up again. */
  readonly dropsSlow: boolean;
  /** Whether a subscription to a missing stream is caught up immediately; if not, only when the stream exists. */
  readonly missingIsCaughtUp: boolean;
  /** Whether a subscription to $all from beyond the end omits events written below its start; if not, it starts at the end. */
  readonly leavesOutBelow: boolean;
  /**
   * Whether the first page of filtered history begins with the event after which the subscription starts, and history ends with a checkpoint of its last
   * page.
   */
  readonly checkpointsEnd: boolean;
  /** Whether 2^63 - 1 is a revision to subscribe from. */
  readonly takesLastRevision: boolean;
};

/** The servers that can be imitated, by name: the answers of each are recorded in `conformance`. */
const servers = {
  'eventstoredb-23.10': {
    version: '23.10.8',
    appendBytes: ({ data }) => data.length,
    dropsSlow: true,
    missingIsCaughtUp: false,
    leavesOutBelow: false,
    checkpointsEnd: false,
    takesLastRevision: false,
  },
  'kurrentdb-25': {
    version: '25.0.0',
    appendBytes: ({ type, data, metadata }) => data.length + metadata.length + 2 * type.length,
    dropsSlow: false,
    missingIsCaughtUp: true,
    leavesOutBelow: true,
    checkpointsEnd: true,
    takesLastRevision: true,
  },
} as const satisfies Readonly<Record<string, Like>>;

export type ServerName = keyof typeof servers;

/** The server with this name. @throws Error if there is none */
export const likeOf = (name: string): Like => {
  const found = Object.entries(servers).find(([known]) => known === name)?.[1];
  if (found === undefined) throw new Error(`--like takes one of: ${Object.keys(servers).join(', ')}`);
  return found;
};
