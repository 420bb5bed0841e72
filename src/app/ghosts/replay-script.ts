import { type Finding, findingsOf } from '../../domain/ghost/findings.js';
import { scriptedPolicy, type ScriptedText } from '../../domain/ghost/scripted.js';
import type { Level } from '../../domain/level/level.js';
import { Rejection } from '../../domain/shared/rejection.js';
import type { Clock } from '../../ports/clock.js';
import { atPace, type Pace } from './pace.js';
import { beginSession, isPlayed, playStep, type Setting } from './session.js';

/** How long a replay may go on, by a clock's monotonic milliseconds, and what ends it before. */
export type ReplayLimit = {
  readonly signal: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly untilMs: number;
};

const RETRY_SECONDS = 10;

/**
 * What is found when the texts of a script are played in a level, from its beginning. Nothing is recorded. The ghost goes on when it has reached its
 * goals: what is looked for may come later.
 * @throws Rejection BUSY when its time is up: others play, too; the reason of the signal
 */
export const replayScript = async (
  pace: Pace,
  level: Level,
  { script, briefedOn }: Pick<Setting, 'briefedOn'> & { readonly script: readonly ScriptedText[] },
  { signal, clock, untilMs }: ReplayLimit,
): Promise<{ readonly findings: readonly Finding[]; readonly steps: number }> => {
  const policy = scriptedPolicy(script);
  const setting: Setting = { level, policy, briefedOn, goal: 'find_bugs', seed: 0, steps: script.length };
  let state = beginSession(setting);
  while (!isPlayed(setting, state)) {
    signal?.throwIfAborted();
    if (clock.monotonicMs() > untilMs) throw new Rejection('BUSY', { retryAfter: RETRY_SECONDS });
    ({ state } = await atPace(pace, playStep(setting, state, policy)));
  }
  return { findings: findingsOf(level, state.tally, { over: true }), steps: state.step };
};
