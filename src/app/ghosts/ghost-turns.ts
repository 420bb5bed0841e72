import { ghostEvents } from '../../domain/ghost/session-decoder.js';
import type { GhostPlan } from '../../domain/ghost/session-events.js';
import type { MindState } from '../../domain/npc/state.js';
import { holdPatterns } from '../../domain/rules/hold-patterns.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { ghostStream, parseGhostMindStream } from '../../domain/shared/stream-names.js';
import type { Ports } from '../../ports/ports.js';
import type { TurnInput, TurnState } from '../../../workflows/turn-state.js';
import type { Levels } from '../levels/levels.js';
import { inSlices } from '../../concurrency/in-slices.js';
import type { ProcessHost } from '../processes/hosted-process.js';
import { factsFrom, type TurnHostDeps } from '../turns/turn-host.js';
import { settingFor } from './play-slice.js';

export type GhostTurnDeps = Pick<TurnHostDeps, 'signingKeys' | 'issuer'> & {
  readonly ports: Pick<Ports, 'events'>;
  readonly levels: Levels;
};

type MindOfSession = NonNullable<ReturnType<typeof parseGhostMindStream>>;

/** What a session was asked for. @throws Rejection GHOST_NOT_FOUND, and what the event store raises */
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

/** The persona that the body names, if it has none of its own yet: then the level's is not asked for. */
const actorsPersona = (state: TurnState, inputs: readonly TurnInput[]): string | null => {
  const known = state.name === 'new' ? undefined : state.actor;
  const brought = inputs.find((input) => input.type === 'actor' || input.type === 'open');
  return (known ?? brought?.actor)?.persona ?? null;
};

/**
 * How the facts of a turn's steps are found in the mind of a ghost session whose body is elsewhere (contract 9.6): the rules are its level's, and so is
 * the persona until the body names one. All else is as in any turn.
 */
export const prepareGhostTurn =
  (deps: GhostTurnDeps): ProcessHost['prepare'] =>
  async ({ id, stream }, recorded, taken) => {
    const mind = parseGhostMindStream(stream);
    if (mind === null) throw new Error(`the turn ${id} is in the stream ${stream}, which is not a mind's`);
    const state = recorded as TurnState;
    const inputs = taken as unknown as readonly TurnInput[];
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
