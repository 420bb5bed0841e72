import type { Action } from '../../rules/domain/bridge/action.js';
import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import type { Outcome } from './deed.js';
import { chanceOf, type Chance } from './random.js';
import { numberOfTile } from './chart.js';
import type { World } from './world.js';

/** The goals that a session can have. */
export const ghostGoals = ['maximize_exploration', 'complete_level', 'find_bugs', 'collect_metrics'] as const;
export type GhostGoal = (typeof ghostGoals)[number];

/** A task at the end of a path. `about` names it for `Plan.tried`. */
export type Task = { readonly about: string; readonly action: JsonObject };

/** What a policy intends to do and has seen fail: plain JSON of bounded size, part of a checkpoint. */
export type Plan = {
  readonly chance: Chance;
  /** The remaining moves, as letters N, E, S and W. */
  readonly path: string;
  /** The tile where the rest of the path begins, by number. */
  readonly at: number;
  readonly task: Task | null;
  /** The part of the plan that the last step carried out; null if it was not part of it. */
  readonly asked: 'move' | 'task' | null;
  /** Tiles that could not be entered, and tasks that could not be done. */
  readonly shunned: readonly number[];
  readonly tried: readonly string[];
  /** How often these were cleared for another try. */
  readonly forgiven: number;
  /** This policy has nothing left to do. */
  readonly stuck: boolean;
  /** The state of doors and items in which no goal could be reached; empty if there was none. */
  readonly vain: string;
  /** The last text; texts that are too long are left out. */
  readonly said: string;
  readonly turn: number;
};

/** What the session does to the protocol, in addition to sending the text as an ordinary step. */
export type ProtocolProbe = 'repeat_step' | 'stale_step' | 'contradicting_tape';

/** The result of the last step; null before the first. */
export type LastStep = {
  /** Whether the verdict was valid. */
  readonly valid: boolean;
  readonly action: Action | null;
  /** Null if the mind refused. */
  readonly outcome: Outcome | null;
};

/** A policy's text, in place of a model's. `kind`: names the kind of the step, for the metrics. */
export type Utterance = {
  readonly plan: Plan;
  readonly text: string;
  readonly kind: string;
  readonly probe?: ProtocolProbe;
};

/** Plays a goal. The same level, seed and steps make the same texts. */
export type Policy = {
  begin(level: Level, seed: number): Plan;
  next(level: Level, world: World, plan: Plan, last: LastStep | null): Utterance;
};

/** How many failed tiles and tasks a plan remembers, the newest ones. */
export const REMEMBERED = 256;

export const beginPlan = (level: Level, seed: number): Plan => ({
  chance: chanceOf(seed),
  path: '',
  at: numberOfTile(level, level.spawn),
  task: null,
  asked: null,
  shunned: [],
  tried: [],
  forgiven: 0,
  stuck: false,
  vain: '',
  said: '',
  turn: 0,
});

/** A model's text with this dialogue and this action. */
export const textOf = (action: JsonObject | string, dialogue = ''): string => JSON.stringify({ dialogue, action });

export const IDLE: JsonObject = { type: 'IDLE' };
