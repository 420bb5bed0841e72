import type { TurnInput, TurnState } from '../../workflows/turn/turn-state.js';
import { inSlices } from '../../src/kernel/concurrency/in-slices.js';
import { ghostEvents, type GhostPlan } from '../../src/features/ghosts/domain/events.js';
import type { MindState } from '../../src/features/npcs/domain/state.js';
import { heldPatterns } from '../../src/features/turns/domain/decision/observation-line.js';
import { usedRuleset } from '../../src/features/rules/ruleset-digest.js';
import { ghostStream, parseGhostMindStream, parseGhostStream } from '../../src/kernel/base/stream-names.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import type { Ports } from '../../src/ports/ports.js';
import type { ProcessInput } from '../../src/ports/process-runtime.js';
import type { GhostInput, GhostSetting } from '../../workflows/ghost-session.js';
import type { Levels } from '../../src/features/levels/levels.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import { factsFrom } from '../../src/features/turns/facts-from.js';
import type { TurnEffectsDeps } from './turn.js';
import { type GhostEngines, PERMIT_WAIT_MS } from '../../src/features/ghosts/call-engines.js';
import type { SharedPace } from '../../src/features/ghosts/pace.js';
import {
  type SessionCache,
  type PlayDeps,
  playSlice,
  settingFor,
  SLICE_MS,
} from '../../src/features/ghosts/play-slice.js';
import type { PlayCache } from '../../src/features/ghosts/remote-steps.js';
import { closeAndReport } from '../../src/features/ghosts/report.js';

/** The timeout of an attempt at a slice, in milliseconds: others may occupy the processor or the engine for long. */
const EFFECT_MS = SLICE_MS + PERMIT_WAIT_MS + 240_000;

export type GhostSessionEffectsDeps = Pick<PlayDeps, 'writers' | 'levels'> & {
  readonly ghostPlays: PlayCache;
  readonly ghostSessions: SessionCache;
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly ghostPace: SharedPace;
  readonly ghostEngines: Pick<GhostEngines, 'ask'>;
};

/** What a ghost session needs: its effects play slices of steps and make the report. */
export const ghostSessionEffects = (open: GhostSessionEffectsDeps): ProcessEffects => ({
  fold: { initial: null, evolve: () => null, versionOf: ghostEvents.versionOf },
  prepare: () => Promise.resolve(() => null),
  effectMs: EFFECT_MS,
  effect: async ({ stream, id }, { name, args }, signal) => {
    const parsed = parseGhostStream(stream);
    if (parsed === null) throw new Error(`the session ${id} is not in a stream of sessions`);
    const { ghostPlays: plays, ghostPace, ghostSessions: kept } = open;
    const { events, clock } = open.ports;
    const callEngine = open.ghostEngines.ask;
    const pace = ghostPace(parsed.tenant);
    const deps = { writers: open.writers, levels: open.levels, events, clock, pace, kept, plays, callEngine };
    const session = { ...(args as unknown as GhostSetting), tenant: parsed.tenant, sessionId: id };
    return unlessBroken(
      async (): Promise<GhostInput> => {
        switch (name) {
          case 'begin':
            await settingFor(deps, session);
            return { type: 'begun' };
          case 'play':
            return playSlice(deps, session, signal);
          case 'report':
            return { type: 'reported', ...(await closeAndReport(deps, session)) };
          default:
            throw new Error(`a ghost session has no effect ${name}`);
        }
      },
      signal,
      name,
    );
  },
});

/**
 * A permanent failure would recur on every retry, so it ends the session. A report is retried in any case: it is all that is left to do.
 */
const unlessBroken = async (
  work: () => Promise<GhostInput>,
  signal: AbortSignal,
  effect: string,
): Promise<ProcessInput> => {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const isPassing = error instanceof Rejection && error.retryAfter !== undefined;
    if (isPassing || effect === 'report') throw error;
    const reason =
      error instanceof Rejection
        ? error.message
        : 'The ghost could not take its next step because of a defect in the server.';
    return { type: 'broken', reason } satisfies GhostInput;
  }
};

export type GhostTurnDeps = Pick<TurnEffectsDeps, 'signingKeys' | 'issuer'> & {
  readonly ports: Pick<Ports, 'events'>;
  readonly levels: Levels;
};

type MindOfSession = NonNullable<ReturnType<typeof parseGhostMindStream>>;

/** The plan of a session. @throws Rejection GHOST_NOT_FOUND, and what the event store throws */
const planOf = async (
  { ports }: Pick<GhostTurnDeps, 'ports'>,
  { tenant, sessionId }: MindOfSession,
): Promise<GhostPlan> => {
  const range = { direction: 'forwards', from: 0, limit: 1 } as const;
  const [first] = (await ports.events.read(ghostStream(tenant, sessionId), range)).events;
  const event = first === undefined ? undefined : ghostEvents.decode(first);
  if (event?.type !== 'GhostRequested') throw new Rejection('GHOST_NOT_FOUND');
  return event.data;
};

/** The persona that the body names, if it does not have one yet: then the level's persona is not loaded. */
const actorsPersona = (state: TurnState, inputs: readonly TurnInput[]): string | null => {
  const known = state.name === 'new' ? undefined : state.actor;
  const brought = inputs.find((input) => input.type === 'actor' || input.type === 'open');
  return (known ?? brought?.actor)?.persona ?? null;
};

/**
 * Finds the facts of a turn's steps in the mind of a ghost session whose body is elsewhere: the rules are its level's, and so is the persona until
 * the body names one. Everything else is as in any turn.
 */
export const prepareGhostTurn =
  (deps: GhostTurnDeps): ProcessEffects['prepare'] =>
  async ({ id, stream }, recorded, taken) => {
    const mind = parseGhostMindStream(stream);
    if (mind === null) throw new Error(`the turn ${id} is in the stream ${stream}, which is not the stream of a mind`);
    const state = recorded as TurnState;
    const inputs = taken as unknown as readonly TurnInput[];
    const issuer = { kid: deps.signingKeys.current.kid, iss: deps.issuer };
    // A turn expires without any rule, even after its session, when the level may be deleted.
    if (inputs.every(({ type }) => type === 'deadline'))
      return (own) => factsFrom(mind.sessionId, { ruleset: null, used: null }, own as MindState, issuer);
    const { level } = await settingFor(deps, { ...(await planOf(deps, mind)), tenant: mind.tenant });
    const { ruleset } = level;
    const opening = state.name === 'new' ? inputs.find((input) => input.type === 'open') : undefined;
    // Recorded with the opening.
    const used = ruleset === null || opening === undefined ? null : await usedRuleset(ruleset);
    const held = opening === undefined ? [] : await inSlices(heldPatterns(ruleset, opening.observation));
    const persona = actorsPersona(state, inputs) ?? level.persona;
    return (streamState) => {
      const own = streamState as MindState;
      return factsFrom(mind.sessionId, { ruleset, used }, { ...own, persona: own.persona ?? persona }, issuer, held);
    };
  };
