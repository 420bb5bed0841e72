import type { GhostClient } from '../../src/body/ghost-client.js';
import { MindError } from '../../src/body/mind-request.js';
import type { MindClient } from '../../src/body/mind-client.js';
import { playTurn } from '../../src/body/play-turn.js';
import type { Finalize, GhostContext, Tape } from '../../src/body/protocol.js';
import { afterStep, type Game, GHOST } from './attach.js';
import { createExplorer, nextAction } from './explorer.js';
import { patiently } from './patience.js';
import { isNear } from './world.js';

/** The ghost's observation, and the game's report about its world. */
const tapeOf = ({ place, world, outcome }: Game): Tape => {
  const { at, hp, inventory, reached } = world;
  const near = place.things.filter((thing) => isNear(at, thing) && thing.kind !== 'spawn');
  const told: GhostContext = {
    position: at,
    reached,
    ...(outcome === null ? {} : { outcome }),
    ...(nextAction(place, world) === null ? { done: true } : {}),
  };
  return {
    observation: [
      `You are at (${String(at.x)}, ${String(at.y)}) with ${String(hp)} hit points.`,
      `Near you: ${near.map(({ kind, name }) => `the ${kind} ${name}`).join(', ') || 'nothing'}.`,
      `You carry ${inventory.join(', ') || 'nothing'}.`,
    ].join(' '),
    context: { ghost: told },
    npcState: { hp, inventory, position: at },
  };
};

/** The session's mind. Each turn is opened under a key of its own, so that a repeated opening opens no second one. */
const patientMind = (ghosts: GhostClient, sessionId: string, key: () => string): Pick<MindClient, 'process'> => ({
  process: (_npcId, step, call) => {
    const opening = step.tape.turnId === undefined ? { idempotencyKey: key() } : {};
    return patiently(() => ghosts.process(sessionId, step, { ...call, ...opening }));
  },
});

/**
 * Plays a session until it is over.
 * @param key makes a new Idempotency-Key
 * @throws MindError when the server is away for too long, or refuses
 */
export const playSession = async (
  ghosts: GhostClient,
  sessionId: string,
  begun: Game,
  { key, tell }: { readonly key: () => string; readonly tell: (line: string) => void },
): Promise<Game> => {
  let game = begun;
  const mind = patientMind(ghosts, sessionId, key);
  const inference = createExplorer(game.place, () => game.world);
  for (;;) {
    try {
      const { instruction } = await playTurn({
        ...{ mind, npcId: GHOST, mode: 'thin', tape: tapeOf(game), memory: game.memory, inference },
        actor: () => ({ npcId: GHOST, persona: null, data: {} }),
      });
      game = afterStep(game, instruction.action);
      tell(lineOf(game, instruction));
    } catch (error) {
      // Somebody stopped it, its time is over, or it has done what it was for.
      if (error instanceof MindError && error.code === 'GHOST_OVER') return game;
      throw error;
    }
  }
};

const lineOf = ({ world, outcome }: Game, { action, dialogue, refusedAction }: Finalize): string => {
  const { x, y } = world.at;
  const said = action === null ? `${refusedAction?.type ?? ''} refused by the mind: ${dialogue}` : action.type;
  const why = outcome?.ok === false ? ` refused by the game: ${outcome.reason ?? ''}` : '';
  return `step ${String(world.steps)} (${String(x)}, ${String(y)}) ${said}${why}`;
};
