import { type PlayDeps, type PlayedSession, playSlice } from '../../src/features/ghosts/play-slice.js';
import { pagesOfSteps, type RecordedStep } from '../../src/features/ghosts/steps-log.js';
import type { EventStore } from '../../src/ports/event-store.js';

const never = new AbortController().signal;

/** Plays a session to its end, slice by slice, as its process does. @throws Error when it ends differently, and errors of a slice */
export const playAllSlices = async (deps: PlayDeps, session: PlayedSession, signal = never): Promise<void> => {
  for (;;) {
    const input = await playSlice(deps, session, signal);
    if (input.type !== 'played') throw new Error(`it ended as ${input.type}`);
    if (input.over) return;
  }
};

/** All recorded steps of a session. */
export const stepsIn = async (events: Pick<EventStore, 'read'>, stream: string): Promise<readonly RecordedStep[]> => {
  const all: RecordedStep[] = [];
  for await (const steps of pagesOfSteps(events, stream)) all.push(...steps);
  return all;
};
