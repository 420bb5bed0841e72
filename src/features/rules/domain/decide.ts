import { Rejection } from '../../../kernel/base/rejection.js';
import type { RulesetEvent } from './events.js';
import { latestRuleset, type RulesetState } from './state.js';
import type { RulesetContent } from './ruleset.js';

/** The result of a decider: events to append, or the refusal. */
export type RulesetDecision = readonly RulesetEvent[] | Rejection;

/** Registers a ruleset. Every registration is a new version, even after a deletion. */
export const registerRuleset = (state: RulesetState, content: RulesetContent): readonly RulesetEvent[] => [
  { type: 'RulesetRegistered', data: { ...content, version: (state.latest?.version ?? 0) + 1 } },
];

/** Deletes a ruleset; its versions stay readable. Refuses with RULESET_NOT_FOUND if it is unknown or deleted. */
export const deleteRuleset = (state: RulesetState, rulesetId: string): RulesetDecision =>
  latestRuleset(state) === null
    ? new Rejection('RULESET_NOT_FOUND', { details: { rulesetId } })
    : [{ type: 'RulesetDeleted', data: { rulesetId } }];
