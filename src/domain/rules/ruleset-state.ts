import type { JsonObject } from '../shared/json.js';
import type { RulesetEvent } from './ruleset-events.js';
import type { DirectiveRuleSet } from './ruleset.js';

/** A rule set as its stream tells it. Versions stay, also those of a deleted set: open turns and replays read them. */
export type RulesetState = {
  /** By version, from 1 without gaps. */
  readonly versions: readonly DirectiveRuleSet[];
  readonly deleted: boolean;
};

export const initialRuleset: RulesetState = { versions: [], deleted: false };

/** The state after one more event. Total: a type it does not know changes nothing. */
export const evolveRuleset = (
  state: RulesetState,
  recorded: { readonly type: string; readonly data: JsonObject },
): RulesetState => {
  const event = recorded as unknown as RulesetEvent;
  switch (event.type) {
    case 'RulesetRegistered':
      return { versions: [...state.versions, event.data], deleted: false };
    case 'RulesetDeleted':
      return { ...state, deleted: true };
    default:
      return state;
  }
};

/** The version that new turns get; null when the set was never registered or is deleted. */
export const latestRuleset = (state: RulesetState): DirectiveRuleSet | null =>
  state.deleted ? null : (state.versions.at(-1) ?? null);

/** One version, also of a deleted set; null when there is none of that number. */
export const rulesetVersion = (state: RulesetState, version: number): DirectiveRuleSet | null =>
  state.versions[version - 1] ?? null;
