import { decoderOf } from '../../../kernel/base/decoder.js';
import type { DirectiveRuleSet } from './ruleset.js';

/** The events of a ruleset's stream. The shapes are storage: they never change and are only upcast (docs/adr/0004). */
export type RulesetEvent =
  /** One complete version: rulesets are small and read by version. */
  | { type: 'RulesetRegistered'; data: DirectiveRuleSet }
  | { type: 'RulesetDeleted'; data: { readonly rulesetId: string } };

/** The decoder of a ruleset's stream. */
export const rulesetEvents = decoderOf<RulesetEvent>({ RulesetRegistered: [], RulesetDeleted: [] });
