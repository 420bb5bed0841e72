import type { EventDraft } from '../src/kernel/base/event-draft.js';
import type { Fold } from '../src/kernel/streams/fold.js';
import { StreamWriter } from '../src/kernel/streams/stream-writer.js';
import type { DraftToPlace } from '../src/kernel/streams/place-events.js';
import { npcEvents } from '../src/features/npcs/domain/events.js';
import { makeTurnId } from '../src/features/turns/domain/turn-id.js';
import type { TurnFacts } from '../src/features/turns/domain/decision/turn-facts.js';
import { npcStream } from '../src/kernel/base/stream-names.js';
import type { Clock } from '../src/ports/clock.js';
import type { EventStore } from '../src/ports/event-store.js';
import { transitionOf } from '../src/kernel/processes/state-machine.js';
import type { TurnInput } from '../workflows/turn/turn-state.js';
import { turn } from '../workflows/turn/turn.js';
import { OBSERVATIONS, resultsOf, tapeAt } from './scene.js';

/** How many minds the turns are spread over. They take one step each in turn, as on a busy server. */
const MINDS = 1_000;
const TENANT = 'local';
/** Long after the measurement, so that no turn expires while it runs. */
const DEADLINE_MS = 24 * 60 * 60 * 1_000;

/** A stream writer needs no state of the mind to append to its stream. */
export const noFold: Fold<null> = { initial: null, evolve: () => null, versionOf: npcEvents.versionOf };

type Steps = readonly (readonly EventDraft[])[];

/** The inputs of a turn's four steps to its state machine. @param deadlineAt RFC 3339 */
export const turnInputs = (moment: number, turnId: string, deadlineAt: string): readonly TurnInput[] => {
  const { observation, context = {}, npcState = {} } = tapeAt(moment);
  const [identified, recalled, generated] = resultsOf(0);
  if (identified.type !== 'IdentifyActorResult' || recalled.type !== 'QueryVectorResult') throw new Error('no turn');
  if (generated.type !== 'ExecuteInferenceResult') throw new Error('no turn');
  return [
    { type: 'open', turnId, observation, context, npcState, deadlineAt },
    { type: 'actor', actor: identified.actor },
    { type: 'memories', memories: recalled.memories },
    { type: 'output', generatedOutput: generated.generatedOutput },
  ];
};

/** The events of the steps of a turn, from the state machine itself; ids and deadline are filled in later. */
const stepsAt = (moment: number): Steps => {
  const facts: TurnFacts = {
    npcId: 'inn',
    mind: { persona: null, data: null, facts: {}, revision: -1 },
    ruleset: null,
    rulesetRef: null,
    issuer: { kid: 'bench', iss: 'http://127.0.0.1:8080' },
  };
  let state = turn.initial;
  return turnInputs(moment, '', '').map((input) => {
    const transition = transitionOf(turn, state, input);
    if (transition === 'ignore' || 'reject' in transition)
      throw new Error(`a turn ${state.name} takes no ${input.type}`);
    const emitted = transition.emit(state, input, facts);
    for (const event of emitted)
      state = turn.evolve(state, { ...event, revision: 0, meta: { at: '', commandId: '', schemaVersion: 1 } });
    return emitted;
  });
};

const allTurns = Array.from({ length: OBSERVATIONS }, (_, moment) => stepsAt(moment));
/** How many turns of one mind are written concurrently: their appends share commits. */
const TURNS_AT_ONCE = 200;
/** How many steps a turn has. */
export const STEPS = allTurns[0]?.length ?? 0;

/** One mind and its current turn. */
export class Mind {
  readonly #writer: StreamWriter<null>;
  readonly #clock: Clock;
  readonly #index: number;
  #turns = 0;
  #turnId = '';
  #openedMs = 0;

  constructor(index: number, store: EventStore, clock: Clock) {
    this.#writer = new StreamWriter(npcStream(TENANT, `inn-${index}`), noFold, store, clock);
    this.#clock = clock;
    this.#index = index;
  }

  get stream(): string {
    return this.#writer.stream;
  }

  /** The last revision of its stream. */
  get revision(): number {
    return this.#writer.revision;
  }

  /** Records one step of the current turn; the first one opens the next turn. @returns how many events that were */
  async take(step: number): Promise<number> {
    await this.#writer.load();
    const revision = this.#writer.revision;
    if (step === 0) {
      this.#openedMs = this.#clock.now().getTime();
      this.#turnId = makeTurnId('process', revision, this.#openedMs, `${this.#index}-${this.#turns}`);
      this.#turns += 1;
    }
    const steps = allTurns[(this.#index + this.#turns) % allTurns.length] ?? [];
    const emitted = steps[step] ?? [];
    const commandId = `${this.#turnId}-${step}`;
    const context = { tenant: TENANT, actor: 'bench', commandId, correlationId: commandId, causationId: null };
    const recorded = await this.#writer.append(
      emitted.map((event, index) => this.#draft(event, step, index === emitted.length - 1, steps.length)),
      context,
      this.#openedMs,
    );
    if (recorded === null) throw new Error('somebody else writes to this store');
    return recorded.events.length;
  }

  /** The event with this turn's ids; the first and the last event of a turn carry its mark. */
  #draft({ type, data }: EventDraft, step: number, lastOfStep: boolean, steps: number): DraftToPlace {
    const deadlineAt = new Date(this.#openedMs + DEADLINE_MS).toISOString();
    const own = {
      ...data,
      turnId: this.#turnId,
      ...(data['mindRevision'] === undefined ? {} : { mindRevision: this.#writer.revision }),
      ...(data['deadlineAt'] === undefined ? {} : { deadlineAt }),
      ...(data['memoryId'] === undefined ? {} : { memoryId: `${this.#turnId}-0` }),
    };
    const mark = { name: turn.name, id: this.#turnId };
    if (step === 0 && lastOfStep) return { type, data: own, process: { ...mark, open: true, due: deadlineAt } };
    if (step === steps - 1 && lastOfStep) return { type, data: own, process: { ...mark, open: false, due: null } };
    return { type, data: own };
  }
}

/**
 * Writes a history of many minds' turns through the event store port: events as the server records them, chained and flushed.
 * @param events the minimum number of events
 * @param openTurns how many turns at the end are left open, waiting for memories
 * @returns the number of events
 */
export const writeTurns = async (
  { store, clock }: { readonly store: EventStore; readonly clock: Clock },
  { events, openTurns }: { readonly events: number; readonly openTurns: number },
): Promise<number> => {
  const minds = Array.from({ length: MINDS }, (_, index) => new Mind(index, store, clock));
  const takeAll = async (some: readonly Mind[], step: number): Promise<number> =>
    (await Promise.all(some.map((mind) => mind.take(step)))).reduce((sum, count) => sum + count, 0);
  let written = 0;
  while (written < events - 2 * openTurns) {
    for (let step = 0; step < STEPS; step += 1) written += await takeAll(minds, step);
  }
  for (let left = openTurns; left > 0; left -= MINDS) {
    const some = minds.slice(0, left);
    for (let step = 0; step < 2; step += 1) written += await takeAll(some, step);
  }
  return written;
};

/**
 * Writes the turns of one mind, one after the other, as `writeTurns` does.
 * @param events the minimum number of events
 * @returns its stream, and the last revision
 */
export const writeMind = async (
  { store, clock }: { readonly store: EventStore; readonly clock: Clock },
  { index, events }: { readonly index: number; readonly events: number },
): Promise<{ readonly stream: string; readonly revision: number }> => {
  const mind = new Mind(index, store, clock);
  while (mind.revision + 1 < events) {
    const turns = Math.min(TURNS_AT_ONCE, Math.ceil((events - mind.revision - 1) / STEPS));
    await Promise.all(Array.from({ length: turns * STEPS }, (_, step) => mind.take(step % STEPS)));
  }
  return { stream: mind.stream, revision: mind.revision };
};
