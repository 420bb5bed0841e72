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

/** The findings up to a step that a journey is drawn from. */
type Found = Pick<GhostReport, 'step' | 'findings'>;

/**
 * The path of a session up to a step, from its recorded actions alone, and where its findings began, however long ago. Propagates errors from the
 * event store.
 * @param most the maximum number of steps
 */
export const journeyOf = async (
  events: StepsRead,
  stream: string,
  level: Level,
  { step: last, findings }: Found,
  most = JOURNEY_STEPS,
): Promise<Journey> => {
  // The first visible position is that of a checkpoint.
  const first = Math.ceil(Math.max(0, last - most) / CHECKPOINT_STEPS) * CHECKPOINT_STEPS;
  const places: Tile[] = [];
  for await (const place of placesFrom(events, stream, level, { first, last })) places.push(place);
  return withFindings({ places, first }, findings, (step) => placeAt(events, stream, level, step));
};

/**
 * A journey with the positions where its findings began. A finding about the level itself has step 0, where the ghost begins.
 * @param first the step that led to the first of the positions
 * @param placeBefore the ghost's position after an earlier step
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

/** The ghost's position after step `first`, which is 0 or has a checkpoint, and after each of the next ones up to `last`. */
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
 * The path of a session with a remote body, as the body reported it; a step without a reported position has that of the step before, among those that
 * are read. Like journeyOf.
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

/** The position that a step's body reported: where it was before that step. */
const toldPlace = ({ remote }: RecordedStep): Tile | undefined => remote?.told.position;

/** A body's position after a step, as it reported within some steps before; undefined if it reported none. */
const toldPlaceAt = async (events: StepsRead, stream: string, step: number): Promise<Tile | undefined> => {
  const from = Math.max(1, step + 2 - CHECKPOINT_STEPS);
  const { steps } = await readSteps(events, stream, { from, limit: step + 2 - from });
  return steps.map(toldPlace).findLast((place) => place !== undefined);
};
