import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { expect } from 'vitest';

import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { Rejection, type RejectionCode } from '../../src/kernel/base/rejection.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import type { Projection } from '../../src/ports/read-models.js';
import { transitionOf, type StateMachine } from '../../src/kernel/processes/state-machine.js';
import { rowsOf } from '../projections/fold.js';
import { recorded } from './histories.js';
import { STREAM } from './streams.js';

/** An event as a decider types it. The type need not show that its data is JSON. */
type Told = { readonly type: string; readonly data: object };
type Decision = readonly Told[] | Rejection;
type Decider<State, Asked extends readonly unknown[]> = (state: State, ...asked: Asked) => Decision;
/** A mind, a tenant, a process: anything folded from the events of one stream. */
type Fold<State> = { readonly initial: State; evolve(state: State, event: RecordedEvent): State };

/** The result of the events, and the decision on it. */
export type Given<State> = {
  readonly state: State;
  readonly events: readonly RecordedEvent[];
  when<Asked extends readonly unknown[]>(decide: Decider<State, Asked>, ...asked: Asked): When<State>;
};
type When<State> = {
  /** Checks that the decision is exactly these events, or a refusal with this code and at least these details. */
  then(expected: readonly Told[] | RejectionCode, details?: JsonObject): void;
  /** The decision; null when it was refused. */
  readonly events: readonly EventDraft[] | null;
  /** The state after the decision. @throws Rejection when it was refused */
  readonly and: Given<State>;
};

type Past<State> = Omit<Given<State>, 'when'>;

const after = <State>(fold: Fold<State>, stream: string, past: Past<State>, told: readonly Told[]): Given<State> => {
  const added = recorded(stream, told as readonly EventDraft[], past.events.length);
  const state = added.reduce((folded, event) => fold.evolve(folded, event), past.state);
  const now = { state, events: [...past.events, ...added] };
  const when: Given<State>['when'] = (decide, ...asked) => {
    const decision = decide(state, ...asked);
    return {
      then: (expected, details = {}) =>
        typeof expected === 'string'
          ? expect(decision).toMatchObject({ name: Rejection.name, code: expected, details })
          : expect(decision).toEqual(expected),
      events: decision instanceof Rejection ? null : (decision as readonly EventDraft[]),
      get and() {
        if (decision instanceof Rejection) throw decision;
        return after(fold, stream, now, decision);
      },
    };
  };
  return { ...now, when };
};

/** How tests of folds and deciders are written (docs/adr/0001): `given(...events).when(decide).then(events or a refusal)`. */
export const givenOf =
  <State>(fold: Fold<State>, stream = STREAM) =>
  (...events: readonly Told[]): Given<State> =>
    after(fold, stream, { state: fold.initial, events: [] }, events);

/** The same for a projection: its state is its rows, by key. */
export const givenRowsOf = <Row extends Json>(projection: Projection<Row>, stream = STREAM) =>
  givenOf<ReadonlyMap<string, Row>>(
    { initial: new Map(), evolve: (rows, event) => rowsOf(projection, [event], rows) },
    stream,
  );

/** The decision of a process's state machine, as a decider. */
export const inTable =
  <State extends { readonly name: string }, Input extends { readonly type: string }, Facts>(
    process: StateMachine<State, Input, Facts, unknown>,
  ): Decider<State, [Input, Facts]> =>
  (state, input, facts) => {
    const transition = transitionOf(process, state, input);
    if (transition === 'ignore') return [];
    if ('reject' in transition) return new Rejection(transition.reject);
    try {
      return transition.emit(state, input, facts);
    } catch (thrown) {
      // As in a runtime: an error that a transition throws is a refusal like any other.
      if (thrown instanceof Rejection) return thrown;
      throw thrown;
    }
  };
