import { type Finding, findingsOf, listedFindings } from './domain/findings.js';
import { study } from './domain/study.js';
import type { GhostGoal } from './domain/policy.js';
import { scriptedPolicy, type ScriptedText } from './domain/scripted.js';
import type { Level } from '../levels/domain/level.js';
import type { LevelRef } from '../levels/domain/ref.js';
import { readMap } from '../levels/domain/read-map.js';
import type { Json } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Levels } from '../levels/levels.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { atPace, type Pace } from './pace.js';
import { beginSession, isPlayed, playStep, type Setting } from './session.js';

/** The time limit of a replay, in milliseconds: even the longest script takes less, unless others play. */
const REPLAY_MS = 60_000;

/** A reproduction read from a file. It is played as written, whatever its original session was. */
export type BroughtReproduction = {
  readonly finding: { readonly kind: string; readonly subject: string };
  readonly level: LevelRef;
  readonly map: Json;
  readonly seed: number;
  readonly goal?: GhostGoal;
  /** Its texts came from an engine, which was given the goal. */
  readonly engine?: boolean;
  readonly script: readonly ScriptedText[];
};

export type Replayed = { readonly reproduced: boolean; readonly findings: readonly Finding[]; readonly steps: number };

const invalid = (problems: readonly unknown[]): Rejection =>
  new Rejection('REPRO_INVALID', { details: { problems: problems as readonly Json[] } });

/**
 * The level of a reproduction, studied for play. @throws Rejection REPRO_INVALID if its map is not a level, or this server has no such level; errors from
 * the levels
 */
const levelMeant = async (levels: Levels, { level, map, seed }: BroughtReproduction): Promise<Level> => {
  if (map !== null) {
    const reading = await inSlices(readMap(map, level.levelId));
    if ('problems' in reading) throw invalid(reading.problems);
    return inSlices(study(reading.level));
  }
  // Registered levels of a tenant are only read for its own sessions.
  const known = levels.ownLevelOf({ ...level, version: null }, seed);
  if (known !== null) return inSlices(study(known));
  throw invalid([
    `The level ${level.levelId} on this server differs from the level of the session, which another version generated.`,
  ]);
};

/** The end of a replay, by a clock's monotonic milliseconds, and the signal that ends it earlier. */
type ReplayLimit = {
  readonly signal: AbortSignal | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly untilMs: number;
};

const RETRY_SECONDS = 10;

/**
 * The findings when the texts of a script are played in a level, from its beginning. Nothing is recorded. The ghost continues after it has reached
 * its goals, because the finding may come later.
 * @throws Rejection BUSY when its time is up, because others play too; the reason of the signal
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

/**
 * Replays a reproduction without a session. Nothing is recorded.
 * @throws Rejection REPRO_INVALID; errors from the levels; the reason of the signal
 */
export const replayReproduction = async (
  { levels, pace, clock }: { readonly levels: Levels; readonly pace: Pace; readonly clock: Pick<Clock, 'monotonicMs'> },
  brought: BroughtReproduction,
  signal: AbortSignal | undefined,
): Promise<Replayed> => {
  const level = await levelMeant(levels, brought);
  const { script, goal, engine } = brought;
  const briefedOn = engine === true ? (goal ?? null) : null;
  const { findings, steps } = await replayScript(
    pace,
    level,
    { script, briefedOn },
    {
      ...{ signal, clock },
      untilMs: clock.monotonicMs() + REPLAY_MS,
    },
  );
  const { kind, subject } = brought.finding;
  return {
    reproduced: findings.some((one) => one.kind === kind && one.subject === subject),
    findings: listedFindings(findings),
    steps,
  };
};
