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

/** How long a replay may take, in milliseconds: the longest script takes less, unless others play. */
const REPLAY_MS = 60_000;

/** A reproduction read from a file. It is played as written, whatever its session was. */
export type BroughtReproduction = {
  readonly finding: { readonly kind: string; readonly subject: string };
  readonly level: LevelRef;
  readonly map: Json;
  readonly seed: number;
  readonly goal?: GhostGoal;
  /** Its texts are those of an engine, which was told the goal. */
  readonly engine?: boolean;
  readonly script: readonly ScriptedText[];
};

export type Replayed = { readonly reproduced: boolean; readonly findings: readonly Finding[]; readonly steps: number };

const invalid = (problems: readonly unknown[]): Rejection =>
  new Rejection('REPRO_INVALID', { details: { problems: problems as readonly Json[] } });

/** The level that is meant, studied for play. @throws Rejection REPRO_INVALID when its map is no level, or this server has no such level; what the levels raise */
const levelMeant = async (levels: Levels, { level, map, seed }: BroughtReproduction): Promise<Level> => {
  if (map !== null) {
    const reading = await inSlices(readMap(map, level.levelId));
    if ('problems' in reading) throw invalid(reading.problems);
    return inSlices(study(reading.level));
  }
  // What a tenant registered is only read for its own sessions.
  const known = levels.ownLevelOf({ ...level, version: null }, seed);
  if (known !== null) return inSlices(study(known));
  throw invalid([
    `The level ${level.levelId} of this server differs from that of the session, which another version generated.`,
  ]);
};

/** How long a replay may go on, by a clock's monotonic milliseconds, and what ends it before. */
type ReplayLimit = {
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

/**
 * Replays a reproduction without a session. Nothing is recorded.
 * @throws Rejection REPRO_INVALID; what the levels raise; the reason of the signal
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
