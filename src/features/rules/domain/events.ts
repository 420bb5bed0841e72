import { decoderOf } from '../../../kernel/base/decoder.js';
import type { DirectiveRuleSet } from './ruleset.js';

/** The events of a rule set's stream. Shapes are storage: never changed, only upcast (docs/adr/0004). */
export type RulesetEvent =
  /** One version, whole: sets are small and read by version. */
  | { type: 'RulesetRegistered'; data: DirectiveRuleSet }
  | { type: 'RulesetDeleted'; data: { readonly rulesetId: string } };

/** The events of a rule set's stream. */
export const rulesetEvents = decoderOf<RulesetEvent>({ RulesetRegistered: [], RulesetDeleted: [] });
