import { act } from '../../domain/ghost/act.js';
import type { Finding } from '../../domain/ghost/findings.js';
import type { Journey } from '../../domain/ghost/picture.js';
import { beginWorld } from '../../domain/ghost/world.js';
import type { Level, Tile } from '../../domain/level/level.js';
import type { EventStore } from '../../ports/event-store.js';
import { nextTurn } from '../pacing/next-turn.js';
import { pagesOfSteps } from './steps-log.js';

/** Where a session went, from its recorded actions alone. Raises what the event store raises. */
export const journeyOf = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  level: Level,
  findings: readonly Finding[],
): Promise<Journey> => {
  let world = beginWorld(level);
  const places: Tile[] = [world.at];
  for await (const steps of pagesOfSteps(events, stream)) {
    for (const { action } of steps) {
      if (action !== null) ({ world } = act(level, world, action));
      places.push(world.at);
    }
    await nextTurn();
  }
  // A finding about the level itself stands at step 0, which is where the ghost begins.
  const at = ({ fromStep }: Finding): Tile => places[fromStep] ?? level.spawn;
  return { places, findings: findings.map((finding) => ({ ...finding, at: at(finding) })) };
};
