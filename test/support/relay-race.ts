import type { ProcessWithEffects } from '../../src/kernel/processes/process-effects.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import type { Transition, Effect, StateMachine } from '../../src/kernel/processes/state-machine.js';
import { noState } from './streams.js';

/**
 * A process for the suites with everything that a process may have: an effect and a deadline.
 * start -> started -> (effect: deliver) delivered -> finish -> over. The deadline ends the process in any state.
 */
export type RaceState = {
  readonly name: 'new' | 'started' | 'delivered' | 'finished' | 'givenUp';
  readonly deadlineAt?: string;
  readonly parcel?: string;
};

export type RaceInput =
  | { readonly type: 'start'; readonly raceId: string; readonly deadlineAt: string }
  | { readonly type: 'delivered'; readonly parcel: string }
  | { readonly type: 'finish' }
  | { readonly type: 'refuse' }
  | { readonly type: 'deadline' };

type Facts = { readonly raceId: string };
export type RaceAnswer = { readonly name: RaceState['name'] };

const event = (type: string, data: Record<string, string>) => ({ type, data });

type Row = StateMachine<RaceState, RaceInput, Facts, RaceAnswer>['transitions']['new'];
const still: Row = {
  start: 'ignore',
  delivered: 'ignore',
  finish: 'ignore',
  refuse: { reject: 'CONFLICT' },
  deadline: 'ignore',
};
const givingUp: Transition<RaceState, { readonly type: 'deadline' }, Facts, RaceState['name']> = {
  to: ['givenUp'],
  emit: (_: RaceState, __: RaceInput, { raceId }: Facts) => [event('RaceGivenUp', { raceId })],
};
const transitions: Record<RaceState['name'], Row> = {
  new: {
    ...still,
    start: { to: ['started'], emit: (_, { type: _type, ...start }) => [event('RaceStarted', start)] },
    finish: { reject: 'TURN_NOT_FOUND' },
  },
  started: {
    ...still,
    delivered: { to: ['delivered'], emit: (_, { parcel }, { raceId }) => [event('RaceDelivered', { raceId, parcel })] },
    deadline: givingUp,
  },
  delivered: {
    ...still,
    finish: { to: ['finished'], emit: (_, __, { raceId }) => [event('RaceFinished', { raceId })] },
    deadline: givingUp,
  },
  finished: still,
  givenUp: still,
};

const over = (state: RaceState): boolean => state.name === 'finished' || state.name === 'givenUp';

export const race: StateMachine<RaceState, RaceInput, Facts, RaceAnswer> = {
  name: 'race',
  initial: { name: 'new' },
  transitions,
  owns: (id, { data }) => data['raceId'] === id,
  evolve: (state, { type, data }) => {
    switch (type) {
      case 'RaceStarted':
        return { name: 'started', deadlineAt: data['deadlineAt'] as string };
      case 'RaceDelivered':
        return { ...state, name: 'delivered', parcel: data['parcel'] as string };
      case 'RaceFinished':
        return { ...state, name: 'finished' };
      case 'RaceGivenUp':
        return { ...state, name: 'givenUp' };
      default:
        return state;
    }
  },
  pending: (state) => (state.name === 'started' ? { id: 'deliver', name: 'deliver', args: {} } : null),
  deadline: (state) =>
    state.deadlineAt === undefined || over(state) ? null : { at: state.deadlineAt, input: { type: 'deadline' } },
  answer: ({ name }) => ({ name }),
  over,
};

/** Runs the race's effect; tests replace it to hold it back or make it fail. */
export type RaceEffects = {
  deliver: (signal: AbortSignal, ref: ProcessRef) => Promise<string>;
  ran: string[];
};

export const raceEffects = (effects: RaceEffects): ProcessWithEffects => ({
  process: race,
  fold: noState,
  prepare: (ref) => Promise.resolve(() => ({ raceId: ref.id })),
  effect: async (ref, effect: Effect, signal): Promise<ProcessInput> => {
    effects.ran.push(effect.name);
    return { type: 'delivered', parcel: await effects.deliver(signal, ref) };
  },
});
