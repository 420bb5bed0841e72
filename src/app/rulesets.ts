import type { DirectiveRuleSet } from '../domain/rules/ruleset.js';
import {
  evolveRuleset,
  initialRuleset,
  latestRuleset,
  rulesetVersion,
  type RulesetState,
} from '../domain/rules/ruleset-state.js';
import type { RulesetRef } from '../domain/npc/events.js';
import { rulesetStream } from '../domain/shared/stream-names.js';
import type { Fold } from './lane.js';
import type { Lanes } from './lanes.js';

/** The set that is a tenant's default when it is registered (contract 2.8). */
export const DEFAULT_RULESET_ID = 'default';

export const rulesetFold: Fold<RulesetState> = { initial: initialRuleset, evolve: evolveRuleset };

/** The rules that decide, and the id that was asked for when nobody registered it. */
export type ChosenRuleset = { readonly ruleset: DirectiveRuleSet | null; readonly missing?: string };

/** A tenant's rule sets, from their streams. */
export type Rulesets = {
  /** The named set, or the tenant's default; a named one that is not registered decides nothing and is `missing` (contract 2.8). */
  choose(tenant: string, rulesetId: string | undefined): Promise<ChosenRuleset>;
  /** One version as it was registered, also of a set deleted since. */
  version(tenant: string, ref: RulesetRef | null): Promise<DirectiveRuleSet | null>;
  /** The set as it stands; null when it was never registered or is deleted. */
  latest(tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null>;
};

export const openRulesets = (lanes: Lanes): Rulesets => {
  // A version that is still being written may be thrown back, and a turn must not name it.
  const load = async (tenant: string, rulesetId: string): Promise<RulesetState> =>
    (await lanes.current(rulesetStream(tenant, rulesetId), rulesetFold)).confirmedState;
  const latest = async (tenant: string, rulesetId: string): Promise<DirectiveRuleSet | null> =>
    latestRuleset(await load(tenant, rulesetId));
  return {
    latest,
    choose: async (tenant, rulesetId) => {
      const ruleset = await latest(tenant, rulesetId ?? DEFAULT_RULESET_ID);
      return ruleset === null && rulesetId !== undefined ? { ruleset, missing: rulesetId } : { ruleset };
    },
    version: async (tenant, ref) =>
      ref === null ? null : rulesetVersion(await load(tenant, ref.rulesetId), ref.version),
  };
};
