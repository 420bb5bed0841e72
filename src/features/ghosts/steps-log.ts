import type { EventDraft } from '../../kernel/base/event-draft.js';
import { ghostStepEvents, type GhostStepEvent } from './domain/events.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { isObject } from '../../kernel/base/json.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { DECIDE_ATTEMPTS, othersKeptWriting } from '../../kernel/streams/attempts.js';
import type { Fold } from '../../kernel/streams/fold.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';

/** How many steps a session has recorded, and whether no more may follow. */
export type StepCount = { readonly steps: number; readonly closed: boolean };

/** The step with the number n is the event at revision n - 1. */
export const stepCount: Fold<StepCount> = {
  initial: { steps: 0, closed: false },
  evolve: (count, recorded) => {
    const event = ghostStepEvents.decode(recorded);
    if (event.type === 'GhostStepped') return { ...count, steps: event.data.step };
    return event.type === 'GhostStepsClosed' ? { ...count, closed: true } : count;
  },
  versionOf: ghostStepEvents.versionOf,
  snapshots: {
    version: 1,
    restore: (saved) =>
      isObject(saved) && typeof saved['steps'] === 'number' && typeof saved['closed'] === 'boolean'
        ? { steps: saved['steps'], closed: saved['closed'] }
        : null,
  },
};

/** `overtaken`: another process has recorded that step; `closed`: it may no longer be recorded. */
export type StepOutcome = 'recorded' | 'overtaken' | 'closed';

/**
 * Records what follows `steps` steps: a step, or the end. If two players of one session meet, one of them is overtaken. Raises CONFLICT after
 * DECIDE_ATTEMPTS, and errors from the event store.
 */
export const recordStep = async (
  writers: StreamWriters,
  stream: string,
  by: CommandContext,
  steps: number,
  event: GhostStepEvent,
): Promise<StepOutcome> => {
  for (let attempt = 0; attempt < DECIDE_ATTEMPTS; attempt += 1) {
    const writer = await writers.open(stream, stepCount);
    const { state, revision } = writer;
    if (!state.closed && state.steps === steps) {
      if ((await writer.append([event as unknown as EventDraft], by, 0)) !== null) return 'recorded';
      continue;
    }
    // This process's state may be stale, or was never written.
    const place = await writer.durable({ state, revision });
    if (place === null) continue;
    if (place.state.closed) return 'closed';
    if (place.state.steps !== steps) return 'overtaken';
  }
  throw othersKeptWriting();
};

/** The number of steps between two checkpoints: after a restart, at most this many are replayed from the record. */
export const CHECKPOINT_STEPS = 250;
/** How many steps are read at a time when reading all of them. */
const PAGE_STEPS = 500;

type StepRecorded = Extract<GhostStepEvent, { type: 'GhostStepped' }>['data'];
export type RecordedStep = StepRecorded & { readonly revision: number; readonly at: string };

const stepOf = (recorded: RecordedEvent): readonly RecordedStep[] => {
  const event = ghostStepEvents.decode(recorded);
  return event.type === 'GhostStepped' ? [{ ...event.data, revision: recorded.revision, at: recorded.meta.at }] : [];
};

/** The number of the last step; 0 if there is none. Propagates errors from the event store. */
export const lastStep = async (events: Pick<EventStore, 'read'>, stream: string): Promise<number> => {
  const [last] = (await events.read(stream, { direction: 'backwards', limit: 1 })).events;
  return last === undefined ? 0 : last.revision + (last.type === 'GhostStepped' ? 1 : 0);
};

/**
 * The steps since the last checkpoint, oldest first, including the checkpoint; all steps if there is none. One page at a time. Propagates errors from
 * the event store.
 * @param known how many steps the reader already knows: none of them are read again
 */
export async function* stepsSinceCheckpoint(
  events: Pick<EventStore, 'read'>,
  stream: string,
  known = 0,
): AsyncGenerator<RecordedStep, void, undefined> {
  const last = await lastStep(events, stream);
  for await (const steps of pagesOfSteps(events, stream, Math.max(1, last - (last % CHECKPOINT_STEPS), known + 1)))
    yield* steps;
}

/** All steps starting with this number, page by page. Propagates errors from the event store. */
export async function* pagesOfSteps(
  events: Pick<EventStore, 'read'>,
  stream: string,
  first = 1,
): AsyncGenerator<readonly RecordedStep[], void, undefined> {
  for (let from: number | null = first; from !== null;) {
    const page: StepsPage = await readSteps(events, stream, { from, limit: PAGE_STEPS });
    yield page.steps;
    from = page.next;
  }
}

/** `next`: the number of the first step of the following page. */
type StepsPage = { readonly steps: readonly RecordedStep[]; readonly next: number | null };

/** A page of steps, starting with this number. Propagates errors from the event store. */
export const readSteps = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<StepsPage> => {
  const first = Math.max(0, from - 1);
  const page = await events.read(stream, { direction: 'forwards', from: first, limit });
  const last = page.events.at(-1)?.revision ?? first;
  return {
    steps: page.events.flatMap(stepOf),
    next: last < page.lastRevision && page.events.length > 0 ? last + 2 : null,
  };
};
