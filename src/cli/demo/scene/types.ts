import type { JsonMembers, RulesetToRegister } from '../../../body/protocol.js';
import type { BodyMode } from '../../../body/play-turn.js';

export type Character = 'maren' | 'odo' | 'wren';

/** How a character's rules come to the server: registered whole, or by the name of a preset. */
export type SceneRules =
  { readonly ruleset: RulesetToRegister & { readonly rulesetId: string } } | { readonly preset: string };

export type CastMember = {
  readonly name: string;
  readonly persona: string;
  /** The state that the mind begins the night with. */
  readonly data: JsonMembers;
  readonly rules: SceneRules;
  /** How this character's client speaks the protocol; all ways lead to the same end. */
  readonly client: { readonly mode: BodyMode; readonly tapes: 'returned' | 'own' };
};

/** A refusal as written: the verdict's code, the rule that refused (if one did), and the reason in the scene's own words. */
export type WrittenRefusal = {
  readonly code: string;
  readonly rule?: string;
  readonly because: string;
};

/** One player line: what is said to whom, what the game knows at that moment, and what the model writes. */
export type SceneLine = {
  readonly to: Character;
  readonly says: string;
  /** Facts of the world that rules and bridge look at. */
  readonly context: JsonMembers;
  /** What the game knows of the character and the mind does not; it counts for this turn only. */
  readonly npcState?: JsonMembers;
  /** The model's text, as models write: plain, JSON, broken JSON, JSON wrapped in prose. */
  readonly model: string;
  readonly refused?: WrittenRefusal;
};

export type SceneAct = { readonly title: string; readonly lines: readonly SceneLine[] };

export type Scene = {
  readonly title: string;
  readonly opening: string;
  readonly closing: string;
  readonly cast: Readonly<Record<Character, CastMember>>;
  readonly acts: readonly SceneAct[];
  /** The refusal that is looked into at the end: its character and what was said. */
  readonly asksWhy: { readonly of: Character; readonly says: string };
};
