import { expect, it } from 'vitest';

import { transitionOf, type StateMachine } from '../../src/kernel/processes/state-machine.js';
import { type Given, inTable } from './given.js';

/** The specification of a process's state machine: each state as its events make it, one input of each type, and the result of each pair. */
type TableCase<State extends { readonly name: string }, Input extends { readonly type: string }> = {
  readonly process: StateMachine<State, Input, unknown, unknown>;
  readonly states: Readonly<Record<State['name'], Given<State>>>;
  readonly inputs: Readonly<Record<Input['type'], Input>>;
  /** By state and type of input: the state that follows and the types of the events, or `<state> refused`. */
  readonly expected: Readonly<Record<State['name'], Readonly<Record<Input['type'], string>>>>;
  /** Additional inputs, which a transition answers differently. */
  readonly more?: readonly (readonly [state: State['name'], input: Input])[];
};

/** Tests of every transition of a state machine, for the `describe` of the process. */
export const testTransitions = <State extends { readonly name: string }, Input extends { readonly type: string }>({
  process,
  states,
  inputs,
  expected,
  more = [],
}: TableCase<State, Input>): void => {
  const take = (before: Given<State>, input: Input) => before.when(inTable(process), input, null);
  const transitions = (Object.keys(states) as State['name'][]).flatMap((name) =>
    Object.values<Input>(inputs).map((input) => [name, input.type as Input['type'], input] as const),
  );

  it.each(transitions)('in the state %s handles the input %s', (name, type, input) => {
    expect(states[name].state.name).toBe(name);
    const taken = take(states[name], input);
    const outcome =
      taken.events === null ? [name, 'refused'] : [taken.and.state.name, ...taken.events.map((event) => event.type)];
    expect(outcome.join(' ')).toBe(expected[name][type]);
  });

  it('leads only to the states that its transitions name', () => {
    for (const [name, input] of [...transitions.map(([state, , one]) => [state, one] as const), ...more]) {
      const transition = transitionOf(process, states[name].state, input);
      if (transition === 'ignore' || 'reject' in transition) continue;
      const taken = take(states[name], input);
      if (taken.events === null) continue;
      expect(transition.to, `${name} ${input.type}`).toContain(taken.and.state.name);
    }
  });
};
