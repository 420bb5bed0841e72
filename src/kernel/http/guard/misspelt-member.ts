import { areSlips, type Bare, bareOf, LONGEST_NAME } from '../../base/alike.js';
import { isObject, type Json } from '../../base/json.js';
import { Rejection } from '../../base/rejection.js';
import { valueAt } from '../../base/json-pointer.js';

/** A member that changes what is decided, so that ignoring it under another name would decide otherwise. */
type Deciding = { readonly name: string; readonly isMeantBy: (bare: Bare, value: unknown) => boolean };

const RULESET_ID = bareOf('rulesetId');
/** What else clients call the id of a ruleset, without case and separators. */
const NAMES_OF_RULESET: readonly string[] = ['rulesets', 'rulesetname', 'rulesid', 'ruleid', 'setid'];
const RULESET = bareOf('ruleset');
/** Words that differ from `context` or `npcState` by a letter or two, without case and separators. */
const OTHER_WORDS: readonly string[] = ['content', 'contents', 'contest', 'npcstats', 'npcstatus', 'npcstart'];

const isRulesetId = (bare: Bare, value: unknown): boolean =>
  NAMES_OF_RULESET.includes(bare.text) ||
  bare.text.includes(RULESET_ID.text) ||
  areSlips(bare, RULESET_ID) ||
  areSlips(bare, RULESET) ||
  // Rules themselves are no text.
  (bare.text === 'rules' && typeof value === 'string');

const misspelling = (name: string): Deciding => {
  const known = bareOf(name);
  return { name, isMeantBy: (bare) => !OTHER_WORDS.includes(bare.text) && areSlips(bare, known) };
};

const rulesetId: Deciding = { name: 'rulesetId', isMeantBy: isRulesetId };
const given = [misspelling('context'), misspelling('npcState')];

/** How many members are looked at: a millisecond of work. */
const LOOKED_AT = 1_000;

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === '';

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
  const absent = members.filter(({ name }) => isNothing(holder[name]));
  if (absent.length === 0) return;
  for (const member of Object.keys(holder).slice(0, LOOKED_AT)) {
    if (member.length > LONGEST_NAME || holder[member] === null || members.some(({ name }) => name === member))
      continue;
    const bare = bareOf(member);
    const meant = absent.find(({ isMeantBy }) => isMeantBy(bare, holder[member]));
    if (meant === undefined) continue;
    throw new Rejection('MEMBER_MISSPELT', { details: { member, meant: `${pointer}/${meant.name}` } });
  }
};

/** Where clients put the id of a ruleset by mistake, by where it belongs. */
const MISPLACED = { '': ['/tape', '/context'], '/tape': ['', '/tape/context'] } as const;

/**
 * Refuses a request that chooses its rules in the wrong place, where the id would be ignored.
 * @param pointer where `rulesetId` belongs
 * @throws Rejection MEMBER_MISSPELT
 */
export const requireRulesetPlace = (body: Json | undefined, pointer: '' | '/tape'): void => {
  const right = `${pointer}/rulesetId`;
  if (!isNothing(valueAt(body, right))) return;
  const wrong = MISPLACED[pointer]
    .map((holder) => `${holder}/rulesetId`)
    .find((place) => !isNothing(valueAt(body, place)));
  if (wrong !== undefined) throw new Rejection('MEMBER_MISSPELT', { details: { member: wrong, meant: right } });
};
