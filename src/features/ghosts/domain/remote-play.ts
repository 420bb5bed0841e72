import type { Level, Tile } from '../../levels/domain/level.js';
import { bitmapHas, bitmapWith, emptyBitmap } from './bitmap.js';
import { numberOfTile } from './chart.js';
import type { FindingKind } from './finding-kinds.js';
import { beginTally, noteStep, type Tally } from './tally.js';
import type { GhostGoal } from './policy.js';
import { reachableTiles, type Reachable } from './reach.js';
import type { WorldReport } from './told-world.js';
import { beginWorld, type World } from './world.js';

/** The mind's decision in a step, as far as it is counted. */
type DecidedStep = {
  readonly valid: boolean;
  /** The code of a refused verdict. */
  readonly code: string | null;
  /** The type of the action that was allowed or refused. */
  readonly action: string | null;
  /** The rules that matched, by id. */
  readonly matched: readonly string[];
};

/** A step of a session with a remote body. */
export type RemoteStep = {
  readonly told: WorldReport;
  readonly decided: DecidedStep;
  /** The last revision of the mind's stream that belongs to this step. */
  readonly through: number;
};

/** The state of a session with a remote body: plain JSON of bounded size, part of a checkpoint. */
export type RemotePlay = {
  readonly step: number;
  readonly through: number;
  /** The tiles that the body reported (bitmap.ts), and their number. */
  readonly visited: string;
  readonly entered: number;
  readonly reached: readonly number[];
  /** The tally of all steps except the last one. */
  readonly tally: Tally;
  /** The last step: its outcome is reported with the next one. */
  readonly last: DecidedStep | null;
  readonly isDone: boolean;
  readonly toldOutcomes: boolean;
  readonly toldGoals: boolean;
};

/** A session before the first step of its body. */
export const beginRemotePlay = (level: Level): RemotePlay => ({
  step: 0,
  through: -1,
  visited: emptyBitmap(level.width * level.height),
  entered: 0,
  reached: [],
  tally: beginTally(level),
  last: null,
  isDone: false,
  toldOutcomes: false,
  toldGoals: false,
});

/** Reported tiles that cannot be reached by the level's own rules are ignored, because coverage is a share. */
const withTile = (
  level: Level,
  { visited, entered }: RemotePlay,
  at: Tile | undefined,
): Pick<RemotePlay, 'visited' | 'entered'> => {
  if (at === undefined || !reachableTiles(level).has(at)) return { visited, entered };
  const tile = numberOfTile(level, at);
  return bitmapHas(visited, tile) ? { visited, entered } : { visited: bitmapWith(visited, tile), entered: entered + 1 };
};

/** A goal that was reached is reachable, whatever the level looks like from here. */
const withReached = (goals: readonly Reachable[], reached: readonly number[]): readonly Reachable[] =>
  goals.map((goal, position) => (reached.includes(position) ? 'yes' : goal));

/** The tally including the last step and its reported outcome. */
const tallyWithLast = (level: Level, { step, tally, last }: RemotePlay, outcome: WorldReport['outcome']): Tally => {
  if (last === null) return tally;
  // The state of the game's world is unknown here, so it is taken as the same before and after.
  const world = beginWorld(level);
  return noteStep(level, tally, {
    step,
    revision: step - 1,
    before: world,
    after: world,
    action: last.action === null ? null : { type: last.action },
    verdictValid: last.valid,
    refusalCode: last.code,
    outcome: last.valid ? (outcome ?? null) : null,
    verdicts: [{ rulesetId: level.ruleset?.rulesetId ?? null, matched: last.matched }],
  });
};

/** The session after one more step; the report that came with it is about the step before. */
export const afterRemoteStep = (level: Level, play: RemotePlay, { told, decided, through }: RemoteStep): RemotePlay => {
  const reached = [...new Set([...play.reached, ...(told.reached ?? [])])];
  const tally = tallyWithLast(level, play, told.outcome);
  return {
    step: play.step + 1,
    through,
    ...withTile(level, play, told.position),
    reached,
    tally: { ...tally, goals: withReached(tally.goals, reached), goalsNow: withReached(tally.goalsNow, reached) },
    last: decided,
    isDone: told.done === true,
    toldOutcomes: play.toldOutcomes || told.outcome !== undefined,
    toldGoals: play.toldGoals || told.reached !== undefined,
  };
};

/** Whether the session has no further step. */
export const isRemotePlayed = (
  { level, goal, steps }: { readonly level: Level; readonly goal: GhostGoal; readonly steps: number },
  { step, isDone, reached }: RemotePlay,
): boolean =>
  step >= steps || isDone || (step > 0 && goal === 'complete_level' && reached.length === level.goals.length);

/** Everything that was counted, including the last step. */
export const remoteTally = (level: Level, play: RemotePlay): Tally => tallyWithLast(level, play, undefined);

/** The level as reported by the body; everything else is in its initial state. */
export const remoteWorld = (level: Level, { visited, entered, reached }: RemotePlay): World => ({
  ...beginWorld(level),
  visited,
  entered,
  reached,
});

const OTHER_WORLD = 'The server does not know what happens in the world of the game.';

/** What cannot be judged if the game has the world, with the reasons. */
export const remoteUnjudged = ({
  toldOutcomes,
}: Pick<RemotePlay, 'toldOutcomes'>): Partial<Readonly<Record<FindingKind, string>>> => ({
  soft_lock: OTHER_WORLD,
  mind_refused_world_allows: OTHER_WORLD,
  engine_error: 'The protocol is only tested when the server plays the session itself.',
  ...(toldOutcomes ? {} : { mind_allowed_world_refused: 'The game did not report the outcome of any action.' }),
});

/** Figures that only the game knows. */
export const untoldMetrics: readonly string[] = ['items.taken', 'doors.opened', 'triggers.observed', 'hp'];
