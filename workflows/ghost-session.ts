import type { EventDraft } from '../src/kernel/base/event-draft.js';
import {
  ghostEvents,
  type GhostEnding,
  type GhostEvent,
  type GhostPlan,
  type GhostReport,
} from '../src/features/ghosts/domain/events.js';
import { defined } from '../src/kernel/base/defined.js';
import type { Effect, StateMachine, ProcessEvent } from '../src/kernel/processes/state-machine.js';

type BegunSession = GhostPlan & { readonly sessionId: string; readonly startedAt: string };
type Ended = BegunSession & {
  /** Steps played, according to the session's own events; the report is authoritative. */
  readonly step: number;
  readonly ending: GhostEnding;
  readonly timedOut: boolean;
  readonly reason: string | null;
  readonly completedAt: string;
};

/** A session as its events leave it; plain JSON. */
export type GhostState =
  | { readonly name: 'new' }
  | (BegunSession & { readonly name: 'pending'; readonly step: 0 })
  | (BegunSession & { readonly name: 'running'; readonly step: number; readonly slices: number })
  /** No step follows, and the report is not made yet. */
  | (Ended & { readonly name: 'ending' })
  | (Ended & { readonly name: 'over'; readonly report: GhostReport });

export type GhostInput =
  | ({ readonly type: 'request'; readonly sessionId: string } & GhostPlan)
  | { readonly type: 'begun' }
  /** A slice of steps was played. `over`: there is nothing more to play. */
  | { readonly type: 'played'; readonly step: number; readonly over: boolean }
  /** The session cannot continue. */
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'stop' }
  | ({ readonly type: 'reported' } & GhostReport)
  | { readonly type: 'deadline' };

/** The state of a session, once it was requested. */
export type GhostAnswer = Exclude<GhostState, { name: 'new' }>;

/** An event of a session as a transition emits it: JSON by construction. */
const recorded = (...events: readonly GhostEvent[]): readonly EventDraft[] => events;

const end = (
  { sessionId }: BegunSession,
  ending: GhostEnding,
  { timedOut = false, reason = null }: { readonly timedOut?: boolean; readonly reason?: string | null } = {},
): readonly EventDraft[] => recorded({ type: 'GhostEnded', data: { sessionId, ending, timedOut, reason } });

const stopped = { to: ['ending'], emit: (state: BegunSession) => end(state, 'stopped') } as const;
const timedOut = {
  to: ['ending'],
  emit: (state: BegunSession) => end(state, 'completed', { timedOut: true }),
} as const;
const broken = {
  to: ['ending'],
  emit: (state: BegunSession, { reason }: { readonly reason: string }) => end(state, 'failed', { reason }),
} as const;

const transitions: StateMachine<GhostState, GhostInput, unknown, GhostAnswer>['transitions'] = {
  new: {
    request: {
      to: ['pending', 'running'],
      emit: (_, { type: _type, ...data }) => [
        ...recorded({ type: 'GhostRequested', data }),
        // Its body may send its first step immediately.
        ...(data.driver === 'remote' ? recorded({ type: 'GhostBegun', data: { sessionId: data.sessionId } }) : []),
      ],
    },
    begun: 'ignore',
    played: 'ignore',
    broken: 'ignore',
    stop: { reject: 'GHOST_NOT_FOUND' },
    reported: 'ignore',
    deadline: 'ignore',
  },
  pending: {
    request: 'ignore',
    begun: {
      to: ['running'],
      emit: ({ sessionId }) => recorded({ type: 'GhostBegun', data: { sessionId } }),
    },
    played: 'ignore',
    broken,
    stop: stopped,
    reported: 'ignore',
    deadline: timedOut,
  },
  running: {
    request: 'ignore',
    begun: 'ignore',
    played: {
      to: ['running', 'ending'],
      emit: (state, { step, over }) => [
        ...recorded({ type: 'GhostPlayed', data: { sessionId: state.sessionId, step } }),
        ...(over ? end(state, 'completed') : []),
      ],
    },
    broken,
    stop: stopped,
    reported: 'ignore',
    deadline: timedOut,
  },
  ending: {
    request: 'ignore',
    begun: 'ignore',
    played: 'ignore',
    broken: 'ignore',
    stop: 'ignore',
    reported: {
      to: ['over'],
      emit: ({ sessionId }, { type: _, ...report }) =>
        recorded({ type: 'GhostReported', data: { sessionId, ...report } }),
    },
    deadline: 'ignore',
  },
  over: {
    request: 'ignore',
    begun: 'ignore',
    played: 'ignore',
    broken: 'ignore',
    stop: 'ignore',
    reported: 'ignore',
    deadline: 'ignore',
  },
};

const evolve = (state: GhostState, stored: ProcessEvent): GhostState => {
  const event = ghostEvents.decode(stored);
  if (state.name === 'new')
    return event.type === 'GhostRequested'
      ? { ...event.data, name: 'pending', startedAt: stored.meta.at, step: 0 }
      : state;
  switch (event.type) {
    case 'GhostBegun':
      return state.name === 'pending' ? { ...state, name: 'running', slices: 0 } : state;
    case 'GhostPlayed':
      return state.name === 'running' ? { ...state, step: event.data.step, slices: state.slices + 1 } : state;
    case 'GhostEnded': {
      if (state.name !== 'pending' && state.name !== 'running') return state;
      const { ending, timedOut: late, reason } = event.data;
      return { ...begunOf(state), name: 'ending', ending, timedOut: late, reason, completedAt: stored.meta.at };
    }
    case 'GhostReported': {
      if (state.name !== 'ending') return state;
      const { sessionId: _, ...report } = event.data;
      return { ...state, name: 'over', step: report.step, report };
    }
    default:
      return state;
  }
};

const begunOf = ({
  name: _,
  ...begun
}: Extract<GhostState, { name: 'pending' | 'running' }>): BegunSession & { step: number } => begun;

/** What the effects of a session need. */
export type GhostSetting = Pick<GhostPlan, 'goal' | 'level' | 'seed' | 'steps' | 'driver' | 'engine'>;

const effect = (id: string, name: string, { goal, level, seed, steps, driver, engine }: BegunSession): Effect => ({
  id,
  name,
  args: { goal, level, seed, steps, ...defined({ driver, engine }) } satisfies GhostSetting,
});

const pending = (state: GhostState): Effect | null => {
  switch (state.name) {
    case 'pending':
      return effect('begin', 'begin', state);
    case 'running':
      if (state.driver === 'remote') return null;
      // Each slice has another id, so that the runtime runs the effect again.
      return effect(`play-${String(state.slices)}`, 'play', state);
    case 'ending':
      return effect('report', 'report', state);
    default:
      return null;
  }
};

/**
 * A ghost session: a mind without a body plays a level, slice by slice, until it has reached its goal, its budget is used up, it times out or it is
 * stopped; then its report is made. The steps have their own stream (docs/adr/0022-ghost-steps.md). With a body elsewhere, the session waits for that
 * body's steps.
 */
export const ghostSession: StateMachine<GhostState, GhostInput, unknown, GhostAnswer> = {
  name: 'ghostSession',
  background: true,
  initial: { name: 'new' },
  transitions,
  owns: (id, event) => event.data['sessionId'] === id,
  evolve,
  pending,
  deadline: (state) =>
    state.name === 'pending' || state.name === 'running' ? { at: state.deadlineAt, input: { type: 'deadline' } } : null,
  answer: (state) => (state.name === 'new' ? undefined : state),
  over: ({ name }) => name === 'over',
};
