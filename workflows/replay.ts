import type { EventDraft } from '../src/kernel/base/event-draft.js';
import {
  replayEvents,
  type ReplayCursor,
  type ReplayEnding,
  type ReplayEvent,
  type ReplayPlan,
} from '../src/features/replays/domain/events.js';
import {
  addFindings,
  noFindings,
  type ReplayFindings,
  type RuleCount,
} from '../src/features/replays/domain/findings.js';
import type { Effect, StateMachine, ProcessEvent } from '../src/kernel/processes/state-machine.js';

type AskedReplay = ReplayPlan & { readonly replayId: string; readonly startedAt: string };
/** The progress: `events` of `eventsInAll` were read, of the histories of `minds`. */
type Progress = {
  readonly minds: number;
  readonly eventsInAll: number;
  readonly unknown: readonly string[];
  readonly events: number;
  readonly found: ReplayFindings;
};

/** A replay as its events leave it; plain JSON. */
export type ReplayState =
  | { readonly name: 'new' }
  | (AskedReplay & { readonly name: 'pending' })
  | (AskedReplay & Progress & { readonly name: 'running'; readonly slices: number; readonly cursor: ReplayCursor })
  | (AskedReplay &
      Progress & {
        readonly name: 'over';
        readonly ending: ReplayEnding;
        readonly reason: string | null;
        readonly endedAt: string;
      });

export type ReplayInput =
  | ({ readonly type: 'request'; readonly replayId: string } & ReplayPlan)
  | {
      readonly type: 'begun';
      readonly minds: number;
      readonly events: number;
      readonly unknown: readonly string[];
      readonly drRuleIds?: readonly string[];
    }
  /** A slice was done. `over`: there is nothing more to decide. */
  | {
      readonly type: 'advanced';
      readonly cursor: ReplayCursor;
      readonly events: number;
      readonly found: ReplayFindings;
      readonly over: boolean;
    }
  /** The replay cannot continue. */
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'cancel' };

/** The state of a replay, once it was requested. */
export type ReplayAnswer = Exclude<ReplayState, { name: 'new' }>;

/** An event of a replay as a transition emits it: JSON by construction. */
const recorded = (...events: readonly ReplayEvent[]): readonly EventDraft[] => events;

const end = ({ replayId }: AskedReplay, ending: ReplayEnding, reason: string | null = null): readonly EventDraft[] =>
  recorded({ type: 'ReplayEnded', data: { replayId, ending, reason } });

const cancelled = { to: ['over'], emit: (state: AskedReplay) => end(state, 'cancelled') } as const;
const broken = {
  to: ['over'],
  emit: (state: AskedReplay, { reason }: { readonly reason: string }) => end(state, 'failed', reason),
} as const;

const transitions: StateMachine<ReplayState, ReplayInput, unknown, ReplayAnswer>['transitions'] = {
  new: {
    request: {
      to: ['pending'],
      emit: (_, { type: _type, ...data }) => recorded({ type: 'ReplayRequested', data }),
    },
    begun: 'ignore',
    advanced: 'ignore',
    broken: 'ignore',
    cancel: { reject: 'REPLAY_NOT_FOUND' },
  },
  pending: {
    request: 'ignore',
    begun: {
      to: ['running'],
      emit: ({ replayId }, { type: _, ...data }) => recorded({ type: 'ReplayBegun', data: { replayId, ...data } }),
    },
    advanced: 'ignore',
    broken,
    cancel: cancelled,
  },
  running: {
    request: 'ignore',
    begun: 'ignore',
    advanced: {
      to: ['running', 'over'],
      emit: (state, { type: _, over, ...data }) => [
        ...recorded({ type: 'ReplayAdvanced', data: { replayId: state.replayId, ...data } }),
        ...(over ? end(state, 'completed') : []),
      ],
    },
    broken,
    cancel: cancelled,
  },
  over: {
    request: 'ignore',
    begun: 'ignore',
    advanced: 'ignore',
    broken: 'ignore',
    cancel: 'ignore',
  },
};

/** The count of a rule of a trial that had no effect, so that it is found as well. */
const untouched = (drRuleId: string): RuleCount => ({
  ...{ drRuleId, was: 0, fired: 0, decided: 0, shadowed: 0, samples: {} },
});

const evolve = (state: ReplayState, stored: ProcessEvent): ReplayState => {
  const event = replayEvents.decode(stored);
  if (state.name === 'new')
    return event.type === 'ReplayRequested' ? { ...event.data, name: 'pending', startedAt: stored.meta.at } : state;
  switch (event.type) {
    case 'ReplayBegun': {
      if (state.name !== 'pending') return state;
      const { minds, events: eventsInAll, unknown, drRuleIds = [] } = event.data;
      return {
        ...{ ...state, name: 'running', slices: 0, minds, eventsInAll, unknown, events: 0 },
        cursor: { after: null, begun: [] },
        found: { ...noFindings, rules: drRuleIds.map(untouched) },
      };
    }
    case 'ReplayAdvanced': {
      if (state.name !== 'running') return state;
      const { cursor, events, found } = event.data;
      return {
        ...{ ...state, cursor, slices: state.slices + 1, events: state.events + events },
        found: addFindings(state.found, found),
      };
    }
    case 'ReplayEnded':
      return state.name === 'over' ? state : ended(state, event.data, stored.meta.at);
    default:
      return state;
  }
};

const ended = (
  state: Extract<ReplayState, { name: 'pending' | 'running' }>,
  { ending, reason }: { readonly ending: ReplayEnding; readonly reason: string | null },
  endedAt: string,
): ReplayState => {
  if (state.name === 'pending') {
    const nothing = { minds: 0, eventsInAll: 0, unknown: [], events: 0, found: noFindings };
    return { ...state, ...nothing, name: 'over', ending, reason, endedAt };
  }
  const { cursor: _cursor, slices: _slices, ...progress } = state;
  return { ...progress, name: 'over', ending, reason, endedAt };
};

/** What the effects of a replay need. */
export type ReplaySetting = ReplayPlan & { readonly cursor: ReplayCursor; readonly found: ReplayFindings };

const effect = (id: string, name: string, args: ReplaySetting): Effect => ({
  id,
  name,
  args: args,
});

const pending = (state: ReplayState): Effect | null => {
  switch (state.name) {
    case 'pending': {
      const { name: _, ...plan } = state;
      return effect('begin', 'begin', { ...plan, cursor: { after: null, begun: [] }, found: noFindings });
    }
    case 'running': {
      const { name: _, slices, ...setting } = state;
      // Each slice has another id, so that the runtime runs the effect again.
      return effect(`slice-${String(slices)}`, 'slice', setting);
    }
    default:
      return null;
  }
};

/**
 * A replay: re-evaluates the recorded decisions of minds, slice by slice, until all are done or it is cancelled. The findings of each slice are in
 * its events (docs/adr/0023-replays.md).
 */
export const replay: StateMachine<ReplayState, ReplayInput, unknown, ReplayAnswer> = {
  name: 'replay',
  background: true,
  initial: { name: 'new' },
  transitions,
  owns: (id, event) => event.data['replayId'] === id,
  evolve,
  pending,
  deadline: () => null,
  answer: (state) => (state.name === 'new' ? undefined : state),
  over: ({ name }) => name === 'over',
};
