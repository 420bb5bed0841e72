import type { Json } from '../../domain/shared/json.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import { GENESIS_HASH } from './hash-chain.js';

/** An event with its place in the stream, before or after it is written. */
export type PlacedEvent = Omit<RecordedEvent, 'position'>;

/** How a stream's state is folded. States are immutable, so that a lane can go back to the last confirmed one. */
export interface Fold<State> {
  readonly initial: State;
  evolve(state: State, event: PlacedEvent): State;
  /** Given where states are worth keeping beside the stream; a state is then JSON. */
  readonly snapshots?: SnapshotForm<State>;
}

export type SnapshotForm<State> = {
  /** Raised whenever the same events fold to another state, or states have another shape: what another version saved is then never read. */
  readonly version: number;
  /** A state that was saved; null when it is none. */
  restore(saved: Json): State | null;
};

/** A stream's state after its event at `revision`; -1: before the first. */
export type Place<State> = { readonly revision: number; readonly state: State };

/** A place with what the next event is put behind: the hash and time of the last one. */
export type Head<State> = Place<State> & { readonly hash: string; readonly at: string };

/** Where every stream begins. */
export const firstHead = <State>({ initial }: Fold<State>): Head<State> => ({
  revision: -1,
  hash: GENESIS_HASH,
  at: '',
  state: initial,
});

/** The head behind one more event. */
export const nextHead = <State>(fold: Fold<State>, { state }: Head<State>, event: PlacedEvent): Head<State> => ({
  revision: event.revision,
  hash: event.meta.hash,
  at: event.meta.at,
  state: fold.evolve(state, event),
});
