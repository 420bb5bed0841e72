import { rulesetEvents } from './domain/events.js';
import { evolveRuleset, initialRuleset, type RulesetState } from './domain/state.js';
import type { Fold } from '../../kernel/streams/fold.js';

export const rulesetFold: Fold<RulesetState> = {
  initial: initialRuleset,
  evolve: evolveRuleset,
  versionOf: rulesetEvents.versionOf,
};
