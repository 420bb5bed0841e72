import type { EventDraft } from '../src/kernel/base/event-draft.js';
import {
  logEvents,
  type LogEvent,
  type LogPlace,
  type SignedCheckpoint,
} from '../src/features/proofs/domain/events.js';
import { growEdge } from '../src/features/proofs/domain/edge.js';
import { type Leaf, leafHash } from '../src/features/proofs/domain/leaf.js';
import type { LogState } from '../src/features/proofs/domain/state.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import type { Effect, StateMachine, ProcessEvent } from '../src/kernel/processes/state-machine.js';

type LogRound = {
  readonly roundId: string;
  /** The global positions up to which events were read, and up to which they will be. */
  readonly through: number;
  readonly until: number;
  readonly leaves: number;
};

/** A round as its events leave it; plain JSON. */
export type CheckpointState =
  | { readonly name: 'new' }
  | (LogRound & { readonly name: 'gathering' })
  | (LogRound & { readonly name: 'signing' })
  | (LogRound & { readonly name: 'handingOn'; readonly size: number })
  | (LogRound & { readonly name: 'over'; readonly size: number });

export type CheckpointInput =
  /** `news`: the position of the first event of a mind that the log does not hold yet. */
  | { readonly type: 'request'; readonly roundId: string; readonly news: number; readonly until: number }
  /** The heads among the events up to `through`. */
  | { readonly type: 'gathered'; readonly leaves: readonly Leaf[]; readonly through: number }
  | ({ readonly type: 'signed' } & Pick<SignedCheckpoint, 'origin' | 'root' | 'at' | 'kid' | 'note' | 'handsOn'> & {
        readonly size: number;
      })
  | { readonly type: 'handedOn'; readonly upTo: number; readonly failed: string | null };

/** The log that a round writes to, at the moment of its decision. */
export type CheckpointFacts = { readonly log: LogState };

/** The state of a round. */
export type CheckpointAnswer = Exclude<CheckpointState, { name: 'new' }>;

/** An event as a transition emits it: JSON by construction. */
const recorded = (event: LogEvent): readonly EventDraft[] => [event];

const placeOf = ({ size, through, last }: LogState): LogPlace => ({
  size,
  through,
  checkpoint: last?.revision ?? null,
});

const transitions: StateMachine<CheckpointState, CheckpointInput, CheckpointFacts, CheckpointAnswer>['transitions'] = {
  new: {
    request: {
      to: ['gathering'],
      emit: (_, { roundId, news, until }, { log }) => {
        // One round at a time, and none for what another has logged meanwhile.
        if (log.round !== null || log.through >= news) throw new Rejection('CONFLICT', { retryAfter: 1 });
        return recorded({ type: 'CheckpointBegun', data: { ...placeOf(log), roundId, through: news - 1, until } });
      },
    },
    gathered: 'ignore',
    signed: 'ignore',
    handedOn: 'ignore',
  },
  gathering: {
    request: 'ignore',
    gathered: {
      to: ['gathering', 'signing'],
      emit: ({ roundId, through: before }, { leaves, through }, { log }) => {
        // It was gathered for another position of the log.
        if (through <= before || log.round !== roundId) return [];
        const after = growEdge(log.edge, log.size, leaves.map(leafHash), -1);
        const stored = after.map(({ hash, at }) => ({ hash, at: at === -1 ? null : at }));
        const data = { ...placeOf(log), roundId, through, before: log.edge, after: stored, leaves };
        return recorded({ type: 'LeavesLogged', data });
      },
    },
    signed: 'ignore',
    handedOn: 'ignore',
  },
  signing: {
    request: 'ignore',
    gathered: 'ignore',
    signed: {
      to: ['handingOn', 'over'],
      emit: ({ roundId, leaves }, { type: _, size, ...signed }, { log }) => {
        if (log.round !== roundId || log.size !== size) return [];
        const data = { ...placeOf(log), roundId, ...signed, leaves, edge: log.edge };
        return recorded({ type: 'CheckpointSigned', data });
      },
    },
    handedOn: 'ignore',
  },
  handingOn: {
    request: 'ignore',
    gathered: 'ignore',
    signed: 'ignore',
    handedOn: {
      to: ['over'],
      emit: ({ roundId }, { upTo, failed }, { log }) =>
        recorded({ type: 'CheckpointsHandedOn', data: { ...placeOf(log), roundId, upTo, failed } }),
    },
  },
  over: { request: 'ignore', gathered: 'ignore', signed: 'ignore', handedOn: 'ignore' },
};

const evolve = (state: CheckpointState, stored: ProcessEvent): CheckpointState => {
  const event = logEvents.decode(stored);
  if (state.name === 'new') {
    if (event.type !== 'CheckpointBegun') return state;
    const { roundId, through, until } = event.data;
    return { name: 'gathering', roundId, through, until, leaves: 0 };
  }
  switch (event.type) {
    case 'LeavesLogged': {
      const { through, leaves } = event.data;
      const name = through < state.until ? 'gathering' : 'signing';
      return state.name === 'gathering' ? { ...state, name, through, leaves: state.leaves + leaves.length } : state;
    }
    case 'CheckpointSigned': {
      const { size, handsOn } = event.data;
      return state.name === 'signing' ? { ...state, name: handsOn ? 'handingOn' : 'over', size } : state;
    }
    case 'CheckpointsHandedOn':
      return state.name === 'handingOn' ? { ...state, name: 'over' } : state;
    default:
      return state;
  }
};

/** What the effects of a round need. */
export type RoundArgs = { readonly through: number; readonly until: number };

const pending = (state: CheckpointState): Effect | null => {
  if (state.name === 'new' || state.name === 'over') return null;
  const { through, until } = state;
  // Each batch has another id, so that the runtime runs the effect again.
  const id = state.name === 'gathering' ? `gather-${String(through)}` : state.name;
  return { id, name: state.name, args: { through, until } satisfies RoundArgs };
};

/**
 * One round of a tenant's log: it gathers the heads of the minds that were written to since the last one, signs a checkpoint, and publishes it. Its
 * stream is the log, and one round writes to it at a time.
 */
export const checkpoint: StateMachine<CheckpointState, CheckpointInput, CheckpointFacts, CheckpointAnswer> = {
  name: 'checkpoint',
  background: true,
  initial: { name: 'new' },
  transitions,
  owns: (id, event) => event.data['roundId'] === id,
  evolve,
  pending,
  deadline: () => null,
  answer: (state) => (state.name === 'new' ? undefined : state),
  over: ({ name }) => name === 'over',
};
