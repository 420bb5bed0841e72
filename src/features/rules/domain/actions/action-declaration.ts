import type { PayloadSchema } from './payload-schema.js';

/** What an action is aimed at. */
export const targetKinds = ['entity', 'item', 'place', 'none'] as const;
export type TargetKind = (typeof targetKinds)[number];

/** An action that an NPC can do. */
export type ActionDeclaration = {
  readonly type: string;
  /** For the model. */
  readonly description: string;
  /** Without it, any target or none. */
  readonly target?: TargetKind;
  /** Without it, any payload or none. */
  readonly payload?: PayloadSchema;
  /** The action gives away or uses up an item. */
  readonly takes?: 'item';
};

/** How many actions a set may declare, and their limit in bytes of JSON. */
export const DECLARED_ACTIONS = 64;
export const DECLARED_BYTES = 16_384;
/** The limit of a description, in UTF-16 units. */
export const DESCRIPTION_CHARS = 500;

/** What every NPC can do. */
const ALWAYS: readonly ActionDeclaration[] = [
  { type: 'SPEAK', description: 'Say your dialogue.' },
  { type: 'IDLE', description: 'Do nothing.' },
];

/** Declarations by type. */
export type Declarations = ReadonlyMap<string, ActionDeclaration>;

/** The declarations of a list, and those that are always there. */
export const declarationsFrom = (actions: readonly ActionDeclaration[]): Declarations =>
  new Map([...ALWAYS, ...actions].map((action) => [action.type, action]));

/** Rulesets are immutable. */
const known = new WeakMap<readonly ActionDeclaration[], Declarations>();

/** A set with what it declares, if it declares anything. */
export type DeclaringSet = { readonly actions?: readonly ActionDeclaration[] };

/** What a set declares; null if its NPCs can do everything. */
export const declarationsOf = (ruleset: DeclaringSet | null): Declarations | null => {
  const actions = ruleset?.actions;
  if (actions === undefined) return null;
  const declarations = known.get(actions) ?? declarationsFrom(actions);
  known.set(actions, declarations);
  return declarations;
};
