import { parseGhostStream } from '../../domain/shared/stream-names.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Ports } from '../../ports/ports.js';
import type { ProcessInput } from '../../ports/process-engine.js';
import type { GhostInput, GhostSetting } from '../../../workflows/ghost-session.js';
import type { ProcessHost } from '../processes/hosted-process.js';
import { type GhostEngines, PLACE_WAIT_MS } from './ask-engines.js';
import type { Pace } from './pace.js';
import { type KeptSessions, playSlice, settingFor, SLICE_MS, type PlayDeps } from './play-slice.js';
import type { KeptPlays } from './remote-steps.js';
import { closeAndReport } from './report.js';

/** How long an attempt at a slice may take, in milliseconds: others may have the processor or the engine for long. */
const EFFECT_MS = SLICE_MS + PLACE_WAIT_MS + 240_000;

export type GhostHostDeps = Pick<PlayDeps, 'lanes' | 'levels'> & {
  readonly ghostPlays: KeptPlays;
  readonly ghostSessions: KeptSessions;
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly ghostPace: Pace;
  readonly ghostEngines: Pick<GhostEngines, 'ask'>;
};

/** What a ghost session needs: its effects play slices of steps and make the report. */
export const ghostHost = (open: GhostHostDeps): ProcessHost => ({
  fold: { initial: null, evolve: () => null },
  prepare: () => Promise.resolve(() => null),
  effectMs: EFFECT_MS,
  effect: async ({ stream, id }, { name, args }, signal) => {
    const parsed = parseGhostStream(stream);
    if (parsed === null) throw new Error(`the session ${id} is not in a stream of sessions`);
    const { ghostPlays: plays, ghostPace: pace, ghostSessions: kept } = open;
    const { events, clock } = open.ports;
    const askEngine = open.ghostEngines.ask;
    const deps = { lanes: open.lanes, levels: open.levels, events, clock, pace, kept, plays, askEngine };
    const session = { ...(args as unknown as GhostSetting), tenant: parsed.tenant, sessionId: id };
    return unlessBroken(
      async (): Promise<GhostInput> => {
        switch (name) {
          case 'begin':
            await settingFor(deps, session);
            return { type: 'begun' };
          case 'play':
            return playSlice(deps, session, signal);
          case 'report':
            return { type: 'reported', ...(await closeAndReport(deps, session)) };
          default:
            throw new Error(`a ghost session has no effect ${name}`);
        }
      },
      signal,
      name,
    );
  },
});

/**
 * What is not a matter of the moment would fail again however often it is tried, so it ends the session (contract 9.8). A report is tried again in any
 * case: it is all that is left to do.
 */
const unlessBroken = async (
  work: () => Promise<GhostInput>,
  signal: AbortSignal,
  effect: string,
): Promise<ProcessInput> => {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const isPassing = error instanceof Rejection && error.retryAfter !== undefined;
    if (isPassing || effect === 'report') throw error;
    const reason = error instanceof Rejection ? error.message : 'The ghost could not take its next step: a defect.';
    return { type: 'broken', reason } satisfies GhostInput;
  }
};
