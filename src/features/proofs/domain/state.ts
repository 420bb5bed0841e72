import type { UnknownEvent } from '../../../kernel/base/decoder.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import type { Edge } from './edge.js';
import { firstKinds, type LoggedKind } from './logged-streams.js';
import type { LogEvent, SignedCheckpoint } from './events.js';

/** A tenant's log folded from its events; plain JSON, and small however long the log is. */
export type LogState = {
  readonly size: number;
  readonly edge: Edge;
  /** The global position up to which it holds the heads of all minds; 0 before the first round. */
  readonly through: number;
  /** The kinds of streams whose heads it holds; null before the first leaves. */
  readonly kinds: readonly LoggedKind[] | null;
  /** The round that has not ended; null between rounds. */
  readonly round: string | null;
  /** The newest checkpoint, and its revision. */
  readonly last: (Pick<SignedCheckpoint, 'size' | 'root' | 'origin' | 'at'> & { readonly revision: number }) | null;
  /** The name of the log; null before the first checkpoint. */
  readonly origin: string | null;
  /** The revision at which it got this name; null if it is its first. */
  readonly restarted: number | null;
  /** The largest size that was published. */
  readonly handedOn: number;
};

export const emptyLog: LogState = {
  size: 0,
  edge: [],
  through: 0,
  kinds: null,
  round: null,
  last: null,
  origin: null,
  restarted: null,
  handedOn: 0,
};

/** The log after one more event, which is at this revision. Total: an unknown event changes nothing. */
export const evolveLog = (state: LogState, event: LogEvent | UnknownEvent, revision: number): LogState => {
  switch (event.type) {
    case 'CheckpointBegun':
      return { ...state, through: event.data.through, round: event.data.roundId };
    case 'LeavesLogged': {
      const { size, leaves, after, through, kinds = firstKinds } = event.data;
      const edge = after.map(({ hash, at }) => ({ hash, at: at ?? revision }));
      return { ...state, size: size + leaves.length, edge, through, kinds };
    }
    case 'CheckpointSigned': {
      const { size, root, origin, at, through, handsOn } = event.data;
      const last = { size, root, origin, at, revision };
      return { ...state, through, round: handsOn ? state.round : null, last, origin };
    }
    case 'LogRestarted':
      return { ...state, origin: event.data.origin, restarted: revision };
    case 'CheckpointsHandedOn':
      return { ...state, round: null, handedOn: event.data.upTo };
    default:
      return state;
  }
};

/** A saved state of a log; null for other JSON. */
export const savedLog = (saved: Json): LogState | null =>
  isObject(saved) && typeof saved['size'] === 'number' && Array.isArray(saved['edge'])
    ? (saved as unknown as LogState)
    : null;
