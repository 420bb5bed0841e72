import { ghostEvents } from '../../domain/ghost/session-decoder.js';
import type { GhostPlan } from '../../domain/ghost/session-events.js';
import type { MindState } from '../../domain/npc/state.js';
import { holdPatterns } from '../../domain/rules/hold-patterns.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { ghostStream, parseGhostMindStream } from '../../domain/shared/stream-names.js';
import type { Ports } from '../../ports/ports.js';
import type { ProcessRef } from '../../ports/process-engine.js';
import type { TurnInput, TurnState } from '../../../workflows/turn-state.js';
import type { Levels } from '../levels/levels.js';
import { inSlices } from '../../concurrency/in-slices.js';
import type { ProcessHost } from '../processes/hosted-process.js';
import { factsFrom, turnHost, type TurnHostDeps } from '../turns/turn-host.js';
import { settingFor } from './play-slice.js';

export type BodyTurnHostDeps = TurnHostDeps & { readonly ports: Pick<Ports, 'events'>; readonly levels: Levels };

type MindOfSession = NonNullable<ReturnType<typeof parseGhostMindStream>>;

/** What a session was asked for. @throws Rejection GHOST_NOT_FOUND, and what the event store raises */
const planOf = async (
  { ports }: Pick<BodyTurnHostDeps, 'ports'>,
  { tenant, sessionId }: MindOfSession,
): Promise<GhostPlan> => {
  const range = { direction: 'forwards', from: 0, limit: 1 } as const;
  const [first] = (await ports.events.read(ghostStream(tenant, sessionId), range)).events;
  const event = first === undefined ? undefined : ghostEvents.decode(first);
  if (event?.type !== 'GhostRequested') throw new Rejection('GHOST_NOT_FOUND');
  return event.data;
};

/** The persona that the body names, if it has none of its own yet: then the level's is not asked for. */
const actorsPersona = (state: TurnState, inputs: readonly TurnInput[]): string | null => {
  const known = state.name === 'new' ? undefined : state.actor;
  const brought = inputs.find((input) => input.type === 'actor' || input.type === 'open');
  return (known ?? brought?.actor)?.persona ?? null;
};

/** How the facts of a step of a session's mind are found: the rules are its level's, and so is the persona until the body names one. */
const prepareForGhost = async (
  deps: BodyTurnHostDeps,
  mind: MindOfSession,
  { state, inputs }: { readonly state: TurnState; readonly inputs: readonly TurnInput[] },
): Promise<(streamState: unknown) => unknown> => {
  const issuer = { kid: deps.signingKeys.current.kid, iss: deps.issuer };
  // No rule decides that a turn expires: it does so also after its session, when the level may be gone for good.
  if (inputs.every(({ type }) => type === 'deadline'))
    return (own) => factsFrom(mind.sessionId, { ruleset: null }, own as MindState, issuer);
  const { level } = await settingFor(deps, { ...(await planOf(deps, mind)), tenant: mind.tenant });
  const { ruleset } = level;
  const opening = inputs.find((input) => input.type === 'open');
  const held =
    opening === undefined || state.name !== 'new' ? [] : await inSlices(holdPatterns(ruleset, opening.observation));
  const persona = actorsPersona(state, inputs) ?? level.persona;
  return (streamState) => {
    const own = streamState as MindState;
    return factsFrom(mind.sessionId, { ruleset }, { ...own, persona: own.persona ?? persona }, issuer, held);
  };
};

/**
 * What the turns of bodies need: of an NPC, and of a ghost session whose body is elsewhere (contract 9.6). Both are the same process, so they have the
 * same shards, limits and deadlines; only whose rules decide is another question.
 */
export const bodyTurnHost = (deps: BodyTurnHostDeps): ProcessHost => {
  const minds = turnHost(deps);
  return {
    ...minds,
    prepare: (ref: ProcessRef, state, inputs, by) => {
      const mind = parseGhostMindStream(ref.stream);
      if (mind === null) return minds.prepare(ref, state, inputs, by);
      return prepareForGhost(deps, mind, {
        state: state as TurnState,
        inputs: inputs as unknown as readonly TurnInput[],
      });
    },
  };
};
