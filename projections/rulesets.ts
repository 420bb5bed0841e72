import { rulesetEvents } from '../src/features/rules/domain/events.js';
import type { DirectiveRuleSet } from '../src/features/rules/domain/ruleset.js';
import type { Projection } from '../src/ports/read-models.js';

/** The newest version of a rule set, and its tenant. */
export type RulesetRow = DirectiveRuleSet & { readonly tenant: string };

const ruleset = [''];

/** The rulesets of each tenant, by rulesetId, one row each. Deleted sets are removed. */
export const rulesets: Projection<RulesetRow> = {
  name: 'rulesets',
  version: 1,
  handles: rulesetEvents.types,
  idsOf: () => ruleset,
  evolve: (row, recorded) => {
    const event = rulesetEvents.decode(recorded);
    switch (event.type) {
      case 'RulesetRegistered':
        return { ...event.data, tenant: recorded.meta.tenant };
      case 'RulesetDeleted':
        return null;
      default:
        return row;
    }
  },
  indexOf: ({ tenant, rulesetId }) => ({ partition: tenant, order: rulesetId, tag: 'live' }),
};
