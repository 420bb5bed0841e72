import type { Decoder } from '../base/decoder.js';
import type { Json } from '../base/json.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { GENESIS_HASH } from './hash-chain.js';

/** An event with its position in the stream, before or after it is written. */
export type StreamEvent = Omit<RecordedEvent, 'position'>;

/** How a stream's state is folded. States are immutable, so that a writer can return to the last confirmed one. */
export interface Fold<State> {
  readonly initial: State;
  evolve(state: State, event: StreamEvent): State;
  /** From the decoder of these streams: the version in which a type is written. */
  readonly versionOf: Decoder<unknown>['versionOf'];
  /** The only command that may write while the stream is in this state; null if all may. */
  heldFor?(state: State): string | null;
  /** Whether the change from one state to another needs a claim that is recorded in another stream (`Claim`). */
  claims?(before: State, after: State): boolean;
  /** Set if states are worth saving in addition to the stream; a state is then JSON. */
  readonly snapshots?: SnapshotForm<State>;
}

export type SnapshotForm<State> = {
  /**
   * Incremented whenever the same events fold to a different state, or a state changes its shape. States saved by a different version are never read.
   */
  readonly version: number;
  /** A state that was saved after the event at `revision`; null if the JSON is not a valid state. */
  restore(saved: Json, revision: number): State | null;
};

/** A stream's state after its event at `revision`; -1 means before the first event. */
export type Place<State> = { readonly revision: number; readonly state: State };

/**
 * A state and revision, with the hash and time of the last event, which the next event needs. `isGood`: nothing in it comes from a stored event that
 * is not what was recorded, as far as events were checked.
 */
export type Head<State> = Place<State> & { readonly hash: string; readonly at: string; readonly isGood: boolean };

/** The head of an empty stream. */
export const firstHead = <State>({ initial }: Fold<State>): Head<State> => ({
  revision: -1,
  hash: GENESIS_HASH,
  at: '',
  state: initial,
  isGood: true,
});

/** The head after one more event. */
export const nextHead = <State>(
  fold: Fold<State>,
  { state, isGood }: Head<State>,
  event: StreamEvent,
): Head<State> => ({
  revision: event.revision,
  hash: event.meta.hash,
  at: event.meta.at,
  state: fold.evolve(state, event),
  isGood,
});
