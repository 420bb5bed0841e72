import type { EventDraft } from '../src/kernel/base/event-draft.js';
import { logEvents, type LogEvent, type SignedCheckpoint } from '../src/features/proofs/domain/events.js';
import type { Leaf } from '../src/features/proofs/domain/leaf.js';
import { leavesLogged, logPlaceOf } from '../src/features/proofs/domain/leaves-logged.js';
import { firstKinds, kindsBehind, type LoggedKind, loggedKinds } from '../src/features/proofs/domain/logged-streams.js';
import { defined } from '../src/kernel/base/defined.js';
import type { LogState } from '../src/features/proofs/domain/state.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import type { Effect, StateMachine, ProcessEvent } from '../src/kernel/processes/state-machine.js';

type LogRound = {
  readonly roundId: string;
  /** The global positions from which events are read, up to which they were read, and up to which they will be. */
  readonly begun: number;
  readonly through: number;
  readonly until: number;
  readonly kinds: readonly LoggedKind[];
  /** The kinds that the log did not hold before, and the position up to which they were gathered, from 0 to `begun`. */
  readonly behind: readonly LoggedKind[];
  readonly caughtUp: number;
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
  /** `news`: the position of the first event that the log does not hold yet, or of the event after its last if only a new kind is to be logged. */
  | { readonly type: 'request'; readonly roundId: string; readonly news: number; readonly until: number }
  /** The heads among the events up to `through`, or of the kinds that are behind among those up to `caughtUp`. A server without `kinds` gathers minds. */
  | {
      readonly type: 'gathered';
      readonly leaves: readonly Leaf[];
      readonly through: number;
      readonly kinds?: readonly LoggedKind[];
      readonly caughtUp?: number;
    }
  | ({ readonly type: 'signed' } & Pick<
      SignedCheckpoint,
      'origin' | 'root' | 'at' | 'clock' | 'kid' | 'note' | 'handsOn'
    > & {
        readonly size: number;
      })
  | { readonly type: 'handedOn'; readonly upTo: number; readonly failed: string | null };

/** The log that a round writes to, at the moment of its decision. */
export type CheckpointFacts = { readonly log: LogState };

/** The state of a round. */
export type CheckpointAnswer = Exclude<CheckpointState, { name: 'new' }>;

/** An event as a transition emits it: JSON by construction. */
const recorded = (event: LogEvent): readonly EventDraft[] => [event];

const transitions: StateMachine<CheckpointState, CheckpointInput, CheckpointFacts, CheckpointAnswer>['transitions'] = {
  new: {
    request: {
      to: ['gathering'],
      emit: (_, { roundId, news, until }, { log }) => {
        // One round at a time, and none for what another has logged meanwhile.
        if (log.round !== null || log.through >= news) throw new Rejection('CONFLICT', { retryAfter: 1 });
        const behind = kindsBehind(log.kinds);
        const data = { ...logPlaceOf(log), roundId, through: news - 1, until, kinds: loggedKinds };
        return recorded({ type: 'CheckpointBegun', data: { ...data, ...(behind.length > 0 ? { behind } : {}) } });
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
      emit: (before, { leaves, through, kinds, caughtUp }, { log }) => {
        const { roundId } = before;
        // It was gathered for another position of the log.
        if (log.round !== roundId || (through <= before.through && (caughtUp ?? 0) <= before.caughtUp)) return [];
        return recorded(leavesLogged(log, { roundId, leaves, through, ...defined({ kinds, caughtUp }) }));
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
        const data = { ...logPlaceOf(log), roundId, ...signed, leaves, edge: log.edge };
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
        recorded({ type: 'CheckpointsHandedOn', data: { ...logPlaceOf(log), roundId, upTo, failed } }),
    },
  },
  over: { request: 'ignore', gathered: 'ignore', signed: 'ignore', handedOn: 'ignore' },
};

const evolve = (state: CheckpointState, stored: ProcessEvent): CheckpointState => {
  const event = logEvents.decode(stored);
  if (state.name === 'new') {
    if (event.type !== 'CheckpointBegun') return state;
    const { roundId, through: begun, until, kinds = firstKinds, behind = [] } = event.data;
    const caughtUp = behind.length > 0 ? 0 : begun;
    return { name: 'gathering', roundId, begun, through: begun, until, kinds, behind, caughtUp, leaves: 0 };
  }
  switch (event.type) {
    case 'LeavesLogged': {
      const { through, leaves, caughtUp = state.caughtUp } = event.data;
      const name = through < state.until || caughtUp < state.begun ? 'gathering' : 'signing';
      if (state.name !== 'gathering') return state;
      return { ...state, name, through, caughtUp, leaves: state.leaves + leaves.length };
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
export type RoundArgs = Pick<LogRound, 'begun' | 'through' | 'until' | 'kinds' | 'behind' | 'caughtUp'>;

const pending = (state: CheckpointState): Effect | null => {
  if (state.name === 'new' || state.name === 'over') return null;
  const { begun, through, until, kinds, behind, caughtUp } = state;
  // Each batch has another id, so that the runtime runs the effect again.
  const place = caughtUp < begun ? `${String(through)}-${String(caughtUp)}` : String(through);
  const id = state.name === 'gathering' ? `gather-${place}` : state.name;
  return { id, name: state.name, args: { begun, through, until, kinds, behind, caughtUp } satisfies RoundArgs };
};

/**
 * One round of a tenant's log: it gathers the heads of the streams that were written to since the last one, signs a checkpoint, and publishes it. Its
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
