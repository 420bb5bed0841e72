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
  return withFindings(level, places, findings);
};

/** A finding about the level itself stands at step 0, which is where the ghost begins. */
const withFindings = (level: Level, places: readonly Tile[], findings: readonly Finding[]): Journey => ({
  places,
  findings: findings.map((finding) => ({ ...finding, at: places[finding.fromStep] ?? level.spawn })),
});

/** Where a session went that has a body elsewhere, as the body told it; a step of which it told nothing is at the place of the one before. As journeyOf. */
export const remoteJourney: typeof journeyOf = async (events, stream, level, findings) => {
  const places: Tile[] = [];
  for await (const steps of pagesOfSteps(events, stream))
    // What a step's body tells is where it was before that step.
    for (const { remote } of steps) places.push(remote?.told.position ?? places.at(-1) ?? level.spawn);
  return withFindings(level, places, findings);
};
