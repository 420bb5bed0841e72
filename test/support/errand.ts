import type { ProcessWithEffects } from '../../src/kernel/processes/process-effects.js';
import type { ProcessInput, ProcessRef } from '../../src/ports/process-runtime.js';
import type { StateMachine } from '../../src/kernel/processes/state-machine.js';
import { noState } from './streams.js';

/** A process for the suites that waits only for its callers and its deadline: begun -> finish -> done. The deadline ends it unfinished. */
type ErrandState = { readonly name: 'new' | 'begun' | 'done' | 'givenUp'; readonly deadlineAt?: string };
type ErrandInput =
  | { readonly type: 'begin'; readonly errandId: string; readonly deadlineAt: string }
  | { readonly type: 'finish' }
  | { readonly type: 'refuse' }
  | { readonly type: 'fail' }
  | { readonly type: 'wait' }
  | { readonly type: 'echo'; readonly parcel: string }
  | { readonly type: 'deadline' };
type Facts = { readonly errandId: string };
type Row = StateMachine<ErrandState, ErrandInput, Facts, string>['transitions']['new'];

const still: Row = {
  begin: 'ignore',
  finish: 'ignore',
  refuse: { reject: 'CONFLICT' },
  fail: 'ignore',
  wait: 'ignore',
  echo: 'ignore',
  deadline: 'ignore',
};

export const errand: StateMachine<ErrandState, ErrandInput, Facts, string> = {
  name: 'errand',
  initial: { name: 'new' },
  transitions: {
    new: {
      ...still,
      begin: { to: ['begun'], emit: (_, { type: _type, ...begun }) => [{ type: 'ErrandBegun', data: begun }] },
      finish: { reject: 'TURN_NOT_FOUND' },
    },
    begun: {
      ...still,
      finish: { to: ['done'], emit: (_, __, { errandId }) => [{ type: 'ErrandDone', data: { errandId } }] },
      deadline: { to: ['givenUp'], emit: (_, __, { errandId }) => [{ type: 'ErrandGivenUp', data: { errandId } }] },
    },
    done: still,
    givenUp: still,
  },
  owns: (id, { data }) => data['errandId'] === id,
  evolve: (state, { type, data }) => {
    if (type === 'ErrandBegun') return { name: 'begun', deadlineAt: data['deadlineAt'] as string };
    if (type === 'ErrandDone') return { ...state, name: 'done' };
    return type === 'ErrandGivenUp' ? { ...state, name: 'givenUp' } : state;
  },
  deadline: (state) =>
    state.name !== 'begun' || state.deadlineAt === undefined
      ? null
      : { at: state.deadlineAt, input: { type: 'deadline' } },
  answer: ({ name }, input) => (input?.type === 'echo' ? input.parcel : name),
  over: ({ name }) => name === 'done' || name === 'givenUp',
};

export const errandRef = (id: string, stream: string): ProcessRef => ({ process: errand.name, id, stream });

/** `fail` throws before anything is recorded, and `wait` takes as long as the test holds it back. */
export const errandEffects = (held: { wait: () => Promise<void> }): ProcessWithEffects => ({
  process: errand,
  fold: noState,
  prepare: async (ref, _, inputs) => {
    if (inputs.some(({ type }) => type === 'fail')) throw new Error('the errand failed');
    if (inputs.some(({ type }) => type === 'wait')) await held.wait();
    return () => ({ errandId: ref.id });
  },
  effect: (): Promise<ProcessInput> => Promise.reject(new Error('an errand has no effects')),
});
