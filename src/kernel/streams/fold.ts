import type { Decoder } from '../base/decoder.js';
import type { Json } from '../base/json.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { GENESIS_HASH } from './hash-chain.js';

/** An event with its place in the stream, before or after it is written. */
export type StreamEvent = Omit<RecordedEvent, 'position'>;

/** How a stream's state is folded. States are immutable: a writer can go back to the last confirmed one. */
export interface Fold<State> {
  readonly initial: State;
  evolve(state: State, event: StreamEvent): State;
  /** From the decoder of these streams: the version in which a type is written. */
  readonly versionOf: Decoder<unknown>['versionOf'];
  /** The one command that may write while the stream is in this state; null when all may. */
  heldFor?(state: State): string | null;
  /** Set when states are worth saving beside the stream; a state is then JSON. */
  readonly snapshots?: SnapshotForm<State>;
}

export type SnapshotForm<State> = {
  /** Raised whenever the same events fold to another state, or a state changes its shape. What another version saved is never read. */
  readonly version: number;
  /** A state that was saved after the event at `revision`; null when the JSON is not one. */
  restore(saved: Json, revision: number): State | null;
};

/** A stream's state after its event at `revision`; -1: before the first. */
export type Place<State> = { readonly revision: number; readonly state: State };

/** A place, with the hash and time of its last event: the next event needs them. */
export type Head<State> = Place<State> & { readonly hash: string; readonly at: string };

/** The head of an empty stream. */
export const firstHead = <State>({ initial }: Fold<State>): Head<State> => ({
  revision: -1,
  hash: GENESIS_HASH,
  at: '',
  state: initial,
});

/** The head after one more event. */
export const nextHead = <State>(fold: Fold<State>, { state }: Head<State>, event: StreamEvent): Head<State> => ({
  revision: event.revision,
  hash: event.meta.hash,
  at: event.meta.at,
  state: fold.evolve(state, event),
});
