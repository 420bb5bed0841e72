import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';

/** A tile, by its column and row; (0, 0) is the upper left one. */
export type Tile = { readonly x: number; readonly y: number };

/**
 * The common part of all objects of a level; `id` is unique in its level, including triggers: the ghost refers to the object by it. It is not on a
 * wall, but several may share a tile.
 */
type Thing = { readonly id: string; readonly at: Tile };

export type Goal = Thing;
/**
 * `locked`: shut until one of the items that open it is used on it; shut forever if the level has none. If not locked, it opens for anyone who
 * interacts with it.
 */
export type Door = Thing & { readonly locked: boolean };
/** Entering it costs `harm` hit points. */
export type Hazard = Thing & { readonly harm: number };
/** `says`: the lines that its mind's scripted engine says in turn. `ruleset`: the rules of its mind, null for none. */
export type LevelNpc = Thing & {
  readonly persona: string;
  readonly ruleset: DirectiveRuleSet | null;
  readonly says: readonly string[];
};
/**
 * Entering one of its tiles, from `from` to `to` (both included), causes the observation `text`; `once`: only the first time. Some of its tiles may
 * be walls.
 */
export type Trigger = {
  readonly id: string;
  readonly from: Tile;
  readonly to: Tile;
  readonly text: string;
  readonly once: boolean;
};

/** A level as a ghost plays it, read from a Tiled map (docs/reference/formats/level.md). Plain JSON. */
export type Level = {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** A string for each row: `#` is a wall, `.` is free. */
  readonly rows: readonly string[];
  readonly spawn: Tile;
  /** The ghost's initial hit points. */
  readonly hp: number;
  /** The persona of the ghost, and the rules of its mind, null for none. */
  readonly persona: string;
  readonly ruleset: DirectiveRuleSet | null;
  readonly goals: readonly Goal[];
  /**
   * `opens`: the ids of the doors that it opens; `heals`: the hit points it gives when used, 0 for none. An item without either has no use.
   * `consumed`: it disappears once used.
   */
  readonly items: readonly (Thing & {
    readonly opens: readonly string[];
    readonly heals: number;
    readonly consumed: boolean;
  })[];
  readonly doors: readonly Door[];
  readonly hazards: readonly Hazard[];
  readonly npcs: readonly LevelNpc[];
  readonly triggers: readonly Trigger[];
};
