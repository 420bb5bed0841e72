import { jcsSlices } from '../../kernel/base/jcs-slices.js';
import type { Json } from '../../kernel/base/json.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import type { DirectiveRuleSet, RulesetUsed } from './domain/ruleset.js';

/** Rulesets are immutable. */
const digests = new WeakMap<DirectiveRuleSet, Promise<string>>();

/** The digest that names a ruleset's content in histories, signatures and souls: base64url SHA-256 of its JCS form (RFC 8785). */
export const rulesetDigest = (ruleset: DirectiveRuleSet): Promise<string> => {
  const known = digests.get(ruleset);
  if (known !== undefined) return known;
  const digest = inSlices(jcsSlices(ruleset as unknown as Json)).then(sha256Base64url);
  digests.set(ruleset, digest);
  return digest;
};

/** What is recorded of the ruleset that decides. @param named the id that the request gave */
export const usedRuleset = async (ruleset: DirectiveRuleSet, named?: string): Promise<RulesetUsed> => {
  const { rulesetId, version } = ruleset;
  const digest = await rulesetDigest(ruleset);
  return { rulesetId, version, digest, ...(named === undefined || named === rulesetId ? {} : { asked: named }) };
};
