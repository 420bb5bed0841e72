import { decoderOf } from '../../../kernel/base/decoder.js';
import type { Edge, Peak } from './edge.js';
import type { Leaf } from './leaf.js';
import type { LoggedKind } from './logged-streams.js';

/**
 * The state of the log before an event: its size, the global position up to which it holds the heads of all minds, and the revision of the newest
 * checkpoint. Every event of a log has it, so the log can be searched by size and by position.
 */
export type LogPlace = { readonly size: number; readonly through: number; readonly checkpoint: number | null };

/** A peak that was completed before this event, or by it (`at` is null then: an event does not know its revision). */
export type StoredPeak = Omit<Peak, 'at'> & { readonly at: number | null };

/**
 * The events of a tenant's log. The shapes are storage: they never change and are only upcast (docs/adr/0004). `size` is the number of leaves before
 * the event. The leaves of one round are in batches; `before` and `after` are the edge of the tree, so that a proof needs no other part of the log
 * than the batches on its path (docs/adr/0025-log.md).
 */
export type LogEvent =
  | {
      type: 'CheckpointBegun';
      /**
       * `until`: the global position at which the round ends. `kinds`: the kinds of streams that it gathers; minds only if absent. `behind`: those
       * among them that the log did not hold before, so that the round first gathers their heads from the beginning.
       */
      data: LogPlace & {
        readonly roundId: string;
        readonly until: number;
        readonly kinds?: readonly LoggedKind[];
        readonly behind?: readonly LoggedKind[];
      };
    }
  | {
      type: 'LeavesLogged';
      data: LogPlace & {
        readonly roundId: string;
        readonly before: Edge;
        readonly after: readonly StoredPeak[];
        readonly leaves: readonly Leaf[];
        /** What was gathered; minds only if absent. */
        readonly kinds?: readonly LoggedKind[];
        /** The global position up to which the kinds that were behind have been gathered; `through` stays meanwhile. */
        readonly caughtUp?: number;
      };
    }
  | {
      type: 'CheckpointSigned';
      data: LogPlace & {
        readonly roundId: string;
        readonly origin: string;
        readonly root: string;
        readonly at: string;
        /** What the clock said, if it was behind the previous checkpoint, whose time was taken. */
        readonly clock?: string;
        readonly kid: string;
        readonly note: string;
        /** How many leaves the round added. */
        readonly leaves: number;
        readonly edge: Edge;
        /** Whether it is to be published. */
        readonly handsOn: boolean;
      };
    }
  | {
      type: 'LogRestarted';
      /** `origin`: the name of the log from now on. */
      data: LogPlace & { readonly origin: string; readonly reason: string };
    }
  | {
      type: 'CheckpointsHandedOn';
      /** `upTo`: the largest size that was published; `failed`: why the others were not, null if all were. */
      data: LogPlace & { readonly roundId: string; readonly upTo: number; readonly failed: string | null };
    };

/** A checkpoint as it is recorded. */
export type SignedCheckpoint = Extract<LogEvent, { type: 'CheckpointSigned' }>['data'];
/** A batch of leaves as it is recorded. */
export type LeafBatch = Extract<LogEvent, { type: 'LeavesLogged' }>['data'];

/** The decoder of tenants' logs. */
export const logEvents = decoderOf<LogEvent>({
  CheckpointBegun: [],
  LeavesLogged: [],
  CheckpointSigned: [],
  LogRestarted: [],
  CheckpointsHandedOn: [],
});
