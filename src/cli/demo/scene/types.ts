import type { JsonMembers, RulesetToRegister } from '../../../body/protocol.js';
import type { BodyMode } from '../../../body/play-turn.js';

export type Character = 'maren' | 'odo' | 'wren';

/** A character's rules: a ruleset to register, or the name of a preset. */
export type SceneRules =
  { readonly ruleset: RulesetToRegister & { readonly rulesetId: string } } | { readonly preset: string };

export type CastMember = {
  readonly name: string;
  readonly persona: string;
  /** The state at the beginning of the night. */
  readonly data: JsonMembers;
  readonly rules: SceneRules;
  /** How this character's client uses the protocol; the outcome is the same either way. */
  readonly client: { readonly mode: BodyMode; readonly tapes: 'returned' | 'own' };
};

/** An expected refusal: the code of the verdict, the rule that refuses (if any), and the reason as the scene tells it. */
export type WrittenRefusal = {
  readonly code: string;
  readonly rule?: string;
  readonly because: string;
};

/** One player line: to whom it is said, what the game knows at that moment, and what the model answers. */
export type SceneLine = {
  readonly to: Character;
  readonly says: string;
  /** Facts about the world for the rules and the bridge. */
  readonly context: JsonMembers;
  /** What the game knows about the character but the mind does not; valid for this turn only. */
  readonly npcState?: JsonMembers;
  /** The model's text in the styles of real models: plain, JSON, broken JSON, JSON wrapped in prose. */
  readonly model: string;
  readonly refused?: WrittenRefusal;
};

export type SceneAct = { readonly title: string; readonly lines: readonly SceneLine[] };

export type Guest = { readonly id: string; readonly name: string };

/** Two players who talk to one character, and what one of them tells it. */
export type GuestScene = {
  readonly title: string;
  readonly to: Character;
  readonly teller: Guest;
  readonly other: Guest;
  readonly secret: string;
  readonly question: string;
};

export type Scene = {
  readonly title: string;
  readonly opening: string;
  readonly closing: string;
  readonly cast: Readonly<Record<Character, CastMember>>;
  readonly acts: readonly SceneAct[];
  /** What happens when the traveller has left. */
  readonly guests: GuestScene;
  /** The refusal to explain at the end. */
  readonly asksWhy: { readonly of: Character; readonly says: string };
};
