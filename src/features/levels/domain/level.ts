import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';

/** A tile, by its column and row; (0, 0) is the upper left one. */
export type Tile = { readonly x: number; readonly y: number };

/** What every object of a level has; `id` is unique in its level, triggers included: what the ghost calls it. It stands on no wall, but several may share a tile. */
type Thing = { readonly id: string; readonly at: Tile };

export type Goal = Thing;
/** `locked`: shut until one of the items that open it is used on it, for good if the level has none. Not locked: it opens to anybody who interacts with it. */
export type Door = Thing & { readonly locked: boolean };
/** Whoever enters it loses `harm` hit points. */
export type Hazard = Thing & { readonly harm: number };
/** `says`: the scripted lines of its mind's texts, in turn. `ruleset`: the rules of its mind, null for none. */
export type LevelNpc = Thing & {
  readonly persona: string;
  readonly ruleset: DirectiveRuleSet | null;
  readonly says: readonly string[];
};
/** Whoever enters one of its tiles, from `from` to `to` (both included), observes `text`; `once`: the first time only. Some of its tiles may be walls. */
export type Trigger = {
  readonly id: string;
  readonly from: Tile;
  readonly to: Tile;
  readonly text: string;
  readonly once: boolean;
};

/** A level as a ghost plays it: what a Tiled map means (docs/reference/formats/level.md). Plain JSON. */
export type Level = {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** A text for each row: `#` is a wall, `.` is free. */
  readonly rows: readonly string[];
  readonly spawn: Tile;
  /** Hit points that the ghost begins with. */
  readonly hp: number;
  /** The persona of the ghost, and the rules of its mind, null for none. */
  readonly persona: string;
  readonly ruleset: DirectiveRuleSet | null;
  readonly goals: readonly Goal[];
  /**
   * `opens`: the doors that it opens, by their ids; `heals`: hit points it gives when it is used, 0 for none. An item without either is good for
   * nothing. `consumed`: it is gone once it was used.
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
