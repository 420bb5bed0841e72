import { areSlips, bareOf, LONGEST_NAME } from '../../base/alike.js';
import { isObject } from '../../base/json.js';
import { Rejection } from '../../base/rejection.js';

const RULESET_ID = 'rulesetId';
const KNOWN = bareOf(RULESET_ID);
/** What else clients call the id of a ruleset, without case and separators. */
const OTHER_NAMES: readonly string[] = ['ruleset', 'rulesets', 'rulesetname', 'rulesid'];
/** How many members are looked at: a millisecond of work. */
const LOOKED_AT = 1_000;
/** A shorter name resembles no other. */
const LEAST_CHARS = 7;

const meansRuleset = (name: string): boolean => {
  if (name.length < LEAST_CHARS || name.length > LONGEST_NAME) return false;
  const bare = bareOf(name);
  return OTHER_NAMES.includes(bare.text) || bare.text.includes(KNOWN.text) || areSlips(bare, KNOWN);
};

/**
 * Refuses a request that seems to choose its rules by another name than `rulesetId`: ignoring the name would mean other rules, or none. A member that is
 * null chooses nothing.
 * @param pointer where `holder` is in the body
 * @throws Rejection RULESET_ID_MISSPELT
 */
export const requireRulesetName = (holder: unknown, pointer: '' | '/tape'): void => {
  if (!isObject(holder) || (holder[RULESET_ID] ?? null) !== null) return;
  const names = Object.keys(holder).slice(0, LOOKED_AT);
  const member = names.find((name) => name !== RULESET_ID && holder[name] !== null && meansRuleset(name));
  if (member === undefined) return;
  throw new Rejection('RULESET_ID_MISSPELT', { details: { member, meant: `${pointer}/${RULESET_ID}` } });
};
