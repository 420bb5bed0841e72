import { act } from './domain/act.js';
import type { Finding } from './domain/findings.js';
import type { GhostReport } from './domain/events.js';
import type { Journey } from './domain/picture.js';
import { beginWorld } from './domain/world.js';
import type { Level, Tile } from '../levels/domain/level.js';
import type { EventStore } from '../../ports/event-store.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import type { SessionState } from './session.js';
import { CHECKPOINT_STEPS, pagesOfSteps, type RecordedStep, readSteps } from './steps-log.js';

/** The number of steps that are read, which takes some seconds. A longer session shows its last ones. */
const JOURNEY_STEPS = 20_000;

type StepsRead = Pick<EventStore, 'read'>;

/** What a journey is drawn of: what was found up to a step. */
type Found = Pick<GhostReport, 'step' | 'findings'>;

/**
 * Where a session went up to a step, from its recorded actions alone, and where its findings began, however long ago. Raises what the event store raises.
 * @param most how many steps at most
 */
export const journeyOf = async (
  events: StepsRead,
  stream: string,
  level: Level,
  { step: last, findings }: Found,
  most = JOURNEY_STEPS,
): Promise<Journey> => {
  // The first place that is seen is that of a checkpoint.
  const first = Math.ceil(Math.max(0, last - most) / CHECKPOINT_STEPS) * CHECKPOINT_STEPS;
  const places: Tile[] = [];
  for await (const place of placesFrom(events, stream, level, { first, last })) places.push(place);
  return withFindings({ places, first }, findings, (step) => placeAt(events, stream, level, step));
};

/**
 * A journey with where its findings began. One about the level itself stands at step 0, which is where the ghost begins.
 * @param first the step after which the first of the places is
 * @param placeBefore where the ghost was after a step before that
 */
const withFindings = async (
  { places, first }: { readonly places: readonly Tile[]; readonly first: number },
  findings: readonly Finding[],
  placeBefore: (step: number) => Promise<Tile>,
): Promise<Journey> => {
  const located: Journey['findings'][number][] = [];
  for (const finding of findings)
    located.push({ ...finding, at: places[finding.fromStep - first] ?? (await placeBefore(finding.fromStep)) });
  return { places, findings: located };
};

const placeAt = async (events: StepsRead, stream: string, level: Level, step: number): Promise<Tile> => {
  const range = { first: step - (step % CHECKPOINT_STEPS), last: step };
  let at = level.spawn;
  for await (const place of placesFrom(events, stream, level, range)) at = place;
  return at;
};

/** Where the ghost is after step `first`, which is 0 or has a checkpoint, and after each of the next ones up to `last`. */
async function* placesFrom(
  events: StepsRead,
  stream: string,
  level: Level,
  { first, last }: { readonly first: number; readonly last: number },
): AsyncGenerator<Tile, void, undefined> {
  let world = beginWorld(level);
  if (first === 0) yield world.at;
  for await (const steps of pagesOfSteps(events, stream, Math.max(1, first))) {
    for (const { step, action, checkpoint } of steps) {
      if (step > last) return;
      if (step === first && checkpoint !== undefined) ({ world } = checkpoint as unknown as SessionState);
      else if (action !== null) ({ world } = act(level, world, action));
      yield world.at;
    }
    if (steps.at(-1)?.step === last) return;
    await yieldToEventLoop();
  }
}

/**
 * Where a session went that has a body elsewhere, as the body told it; a step of which it told nothing is at the place of the one before, of those that
 * are looked at. As journeyOf.
 */
export const remoteJourney = async (
  events: StepsRead,
  stream: string,
  level: Level,
  { step: last, findings }: Found,
  most = JOURNEY_STEPS,
): Promise<Journey> => {
  const first = Math.max(0, last - most);
  const places: Tile[] = [];
  for await (const steps of pagesOfSteps(events, stream, first + 1)) {
    for (const step of steps.filter((one) => one.step <= last))
      places.push(toldPlace(step) ?? places.at(-1) ?? level.spawn);
    if ((steps.at(-1)?.step ?? last) >= last) break;
    await yieldToEventLoop();
  }
  const told = async (step: number): Promise<Tile> => (await toldPlaceAt(events, stream, step)) ?? level.spawn;
  return withFindings({ places, first }, findings, told);
};

/** What a step's body tells is where it was before that step. */
const toldPlace = ({ remote }: RecordedStep): Tile | undefined => remote?.told.position;

/** Where a body was after a step, as it told within some steps before; undefined when it told nothing. */
const toldPlaceAt = async (events: StepsRead, stream: string, step: number): Promise<Tile | undefined> => {
  const from = Math.max(1, step + 2 - CHECKPOINT_STEPS);
  const { steps } = await readSteps(events, stream, { from, limit: step + 2 - from });
  return steps.map(toldPlace).findLast((place) => place !== undefined);
};
