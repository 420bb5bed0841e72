import type { JsonObject } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { normaliseRuleset } from './domain/normalise.js';
import type { DirectiveRuleSet, RulesetUsed } from './domain/ruleset.js';
import { usedRuleset } from './ruleset-digest.js';
import type { Rulesets } from './rulesets.js';

/** A set that a request brings, or one that it names; null is no value. */
type RulesetAsked = {
  readonly ruleset?: JsonObject | null;
  readonly rulesetId?: string | null;
  readonly version?: number | null;
};

/** The set, and what a record would say of it: nothing of one that is not registered. */
export type AskedRuleset = { readonly ruleset: DirectiveRuleSet; readonly used: RulesetUsed | null };

const refuse = (pointer: string, message: string): never => {
  throw new Rejection('SCHEMA_INVALID', { details: { issues: [{ in: 'body', pointer, message }] } });
};

/**
 * The set that a request brings or names; null if it does neither.
 * @throws Rejection SCHEMA_INVALID, RULESET_NOT_FOUND, and what its registration would refuse
 */
export const askedRuleset = async (
  rulesets: Rulesets,
  tenant: string,
  { ruleset: set = null, rulesetId = null, version = null }: RulesetAsked,
): Promise<AskedRuleset | null> => {
  if (set !== null) {
    if (rulesetId !== null) refuse('/rulesetId', 'cannot be combined with ruleset');
    if (version !== null) refuse('/version', 'cannot be combined with ruleset');
    const content = await inSlices(normaliseRuleset(set, () => 'unnamed', '/ruleset'));
    if (content instanceof Rejection) throw content;
    return { ruleset: { ...content, version: 1 }, used: null };
  }
  if (rulesetId === null) return version === null ? null : refuse('/version', 'must come with a rulesetId');
  const ruleset = await (version === null
    ? rulesets.latest(tenant, rulesetId)
    : rulesets.asked(tenant, { rulesetId, version }));
  if (ruleset === null)
    throw new Rejection('RULESET_NOT_FOUND', { details: { rulesetId, ...(version === null ? {} : { version }) } });
  return { ruleset, used: await usedRuleset(ruleset) };
};
