import { areSlips, type Bare, bareOf, LONGEST_NAME } from '../../base/alike.js';
import { isObject } from '../../base/json.js';
import { Rejection } from '../../base/rejection.js';

/** A member that changes what is decided, so that ignoring it under another name would decide otherwise. */
type Deciding = { readonly name: string; readonly isMeantBy: (bare: Bare) => boolean };

const RULESET_ID = bareOf('rulesetId');
/** What else clients call the id of a ruleset, without case and separators. */
const NAMES_OF_RULESET: readonly string[] = ['ruleset', 'rulesets', 'rulesetname', 'rulesid'];
/** A shorter name resembles no id of a ruleset. */
const RULESET_CHARS = 7;
/** Words that differ from `context` or `npcState` by a letter or two, without case and separators. */
const OTHER_WORDS: readonly string[] = ['content', 'contents', 'contest', 'npcstats', 'npcstatus', 'npcstart'];

const isRulesetId = (bare: Bare): boolean =>
  bare.text.length >= RULESET_CHARS &&
  (NAMES_OF_RULESET.includes(bare.text) || bare.text.includes(RULESET_ID.text) || areSlips(bare, RULESET_ID));

const misspelling = (name: string): Deciding => {
  const known = bareOf(name);
  return { name, isMeantBy: (bare) => !OTHER_WORDS.includes(bare.text) && areSlips(bare, known) };
};

const rulesetId: Deciding = { name: 'rulesetId', isMeantBy: isRulesetId };
const given = [misspelling('context'), misspelling('npcState')];

/** How many members are looked at: a millisecond of work. */
const LOOKED_AT = 1_000;

/** The members to look for. @param known the members that the body of the route has; `rulesetId` is looked for even if it has none */
export const decidingMembers = (known: readonly string[]): readonly Deciding[] => [
  rulesetId,
  ...given.filter(({ name }) => known.includes(name)),
];

/**
 * Refuses a request that seems to have a member which decides, but calls it by another name: ignoring that one would mean other rules, or rules that do
 * not match. A member that is null says nothing.
 * @param pointer where `holder` is in the body
 * @throws Rejection MEMBER_MISSPELT
 */
export const requireMemberNames = (holder: unknown, pointer: '' | '/tape', members: readonly Deciding[]): void => {
  if (!isObject(holder)) return;
  const absent = members.filter(({ name }) => (holder[name] ?? null) === null);
  if (absent.length === 0) return;
  for (const member of Object.keys(holder).slice(0, LOOKED_AT)) {
    if (member.length > LONGEST_NAME || holder[member] === null || members.some(({ name }) => name === member))
      continue;
    const bare = bareOf(member);
    const meant = absent.find(({ isMeantBy }) => isMeantBy(bare));
    if (meant === undefined) continue;
    throw new Rejection('MEMBER_MISSPELT', { details: { member, meant: `${pointer}/${meant.name}` } });
  }
};
