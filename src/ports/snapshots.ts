/** A moment in a stream's history: a revision, or an instant in milliseconds since the epoch; both inclusive. */
export type Moment = { readonly revision: number } | { readonly timeMs: number };

/** A stream's state after its event at `revision`. */
export type Snapshot = {
  readonly stream: string;
  /** The version of the fold that made the state. */
  readonly version: number;
  readonly revision: number;
  /** The hash of the event at `revision`: if the stream holds another event there, the state does not belong to this stream. */
  readonly hash: string;
  /** The time of that event, in milliseconds since the epoch. */
  readonly atMs: number;
  /** JSON text: the state with its seal. */
  readonly state: string;
};

/**
 * States of streams to begin folding from. They are made from events alone and may be deleted at any time. Without one, a stream is folded from its
 * beginning. A snapshot is used only if the stream holds the event that it names.
 *
 * Order: there is one snapshot of a stream and revision; the last one saved is kept, whatever its version. A save of
 * the same version, hash and state writes nothing.
 * Atomicity: a snapshot is found completely or not at all. It need not be durable when `save` resolves.
 * Failures: after a throw it is unknown whether the snapshot was saved, or whether there is one. Every call has a timeout.
 */
export interface Snapshots {
  /** The latest snapshot of a stream, by this version of the fold, that is not beyond `moment`; null if there is none. */
  latest(stream: string, version: number, moment: Moment): Promise<Snapshot | null>;
  save(snapshot: Snapshot): Promise<void>;
}
