import { areSlips, type Bare, bareOf, LONGEST_NAME } from '../../base/alike.js';
import { isClientId } from '../../base/client-id.js';
import { isObject, type Json } from '../../base/json.js';
import { pointerPart, valueAt } from '../../base/json-pointer.js';
import { Rejection } from '../../base/rejection.js';
import { areWithin, slipsBetween } from '../../base/slips.js';

/** The members of a body by which a route decides, so that ignoring one under another name or in another place would decide otherwise. */
export type DecidingMembers = {
  /** Where the route reads them: JSON Pointers. */
  readonly decidesBy: readonly string[];
  /** Whether a `rulesetId` is ignored, because the client chooses no rules here. */
  readonly ignoresRulesetId?: boolean;
};

const RULESET_ID = 'rulesetId';
const BARE_RULESET_ID = bareOf(RULESET_ID);
/** What else clients call the id of a ruleset, without case and separators. */
const NAMES_OF_RULESET: readonly string[] = ['rulesets', 'rulesetname', 'rulesid', 'ruleid', 'setid'];
const RULESET = bareOf('ruleset');
/** Words that differ from a known name by a letter or two, without case and separators. */
const OTHER_WORDS: readonly string[] = ['content', 'contents', 'contest', 'npcstats', 'npcstatus', 'npcstart'];

/** Whether a text can be an id, and is no sentence. */
const isLikeId = (text: string): boolean => isClientId(text) && !/\s/.test(text);

const isLikeRulesetId = (bare: Bare, value: unknown): boolean =>
  NAMES_OF_RULESET.includes(bare.text) ||
  bare.text.includes(BARE_RULESET_ID.text) ||
  areSlips(bare, BARE_RULESET_ID) ||
  areSlips(bare, RULESET) ||
  // Rules themselves are no id.
  (bare.text === 'rules' && typeof value === 'string' && isLikeId(value));

/** Among the free members of a game, only the name itself means a ruleset. */
const isRulesetId = (bare: Bare, value: unknown): boolean =>
  bare.text === BARE_RULESET_ID.text && typeof value === 'string';

/** A member that decides. `place`: where the route reads it; null if it ignores it everywhere. */
type Deciding = {
  readonly name: string;
  readonly place: string | null;
  readonly isMeantBy: (bare: Bare, value: unknown) => boolean;
};

const decidingAt = (place: string): Deciding => {
  const name = place.slice(place.lastIndexOf('/') + 1);
  if (name === RULESET_ID) return { name, place, isMeantBy: isLikeRulesetId };
  const known = bareOf(name);
  return {
    name,
    place,
    // The plural of a short name is no slip of it.
    isMeantBy: (bare) => !OTHER_WORDS.includes(bare.text) && (areSlips(bare, known) || bare.text === `${known.text}s`),
  };
};

/** A letter too few or too many, or the same letters in another order. A wrong letter makes another word: `worldStats`. */
const isMistyped = (written: string, known: string): boolean =>
  written.length === known.length
    ? slipsBetween(written, known) === 2 && [...written].sort().join('') === [...known].sort().join('')
    : areWithin(1, written, known);

/** Among the free members of a game, only an object is one that decides: `worldDate` and a `constraint` in words are its own. */
const ofGame = (one: Deciding): Deciding => {
  const known = bareOf(one.name).text;
  return {
    ...one,
    isMeantBy: ({ text }, value) => isObject(value) && (text === known || isMistyped(text, known)),
  };
};

/** Where members that decide may be: beside a tape, in it, and in what the route reads of the game. */
type Holder = { readonly pointer: string; readonly deciding: readonly Deciding[] };

const holdersOf = ({ decidesBy, ignoresRulesetId = false }: DecidingMembers): readonly Holder[] => {
  const read = decidesBy.map(decidingAt);
  const unread: Deciding = { name: RULESET_ID, place: null, isMeantBy: isLikeRulesetId };
  const deciding = ignoresRulesetId ? [unread, ...read] : read;
  const rulesetIds = deciding.filter(({ name }) => name === RULESET_ID);
  // Routes of agents and the bridge read it there, so clients of both may send it in either place.
  const besides = (pointer: string): readonly Deciding[] =>
    read.filter(({ place }) => pointer.endsWith('/context') && place === pointer.replace(/context$/, 'npcState'));
  const free = decidesBy.filter((place) => !place.endsWith(`/${RULESET_ID}`));
  return [
    ...['/tape', ''].map((pointer) => ({ pointer, deciding })),
    ...free.map((pointer) => ({
      pointer,
      deciding: [
        ...rulesetIds.map((one) => ({ ...one, isMeantBy: isRulesetId })),
        ...[...read.filter(({ place }) => place?.startsWith(`${pointer}/`)), ...besides(pointer)].map(ofGame),
      ],
    })),
  ].filter((holder) => holder.deciding.length > 0);
};

/** How many members of an object are looked at: a millisecond of work. */
const LOOKED_AT = 1_000;

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The member of an object that seems to mean one that decides, and which; undefined if there is none. */
const mistakenIn = (
  body: Json,
  { pointer, deciding }: Holder,
): { member: string; meant: string | null } | undefined => {
  const holder = valueAt(body, pointer);
  if (!isObject(holder)) return undefined;
  const absent = deciding.filter(({ place }) => place === null || isNothing(valueAt(body, place)));
  if (absent.length === 0) return undefined;
  for (const member of Object.keys(holder).slice(0, LOOKED_AT)) {
    const value = holder[member];
    const at = `${pointer}/${pointerPart(member)}`;
    if (member.length > LONGEST_NAME || value === null || deciding.some(({ place }) => place === at)) continue;
    const bare = bareOf(member);
    const meant = absent.find(({ name, isMeantBy }) =>
      name === member ? isMeantBy(bare, value) && !isNothing(value) : isMeantBy(bare, value),
    );
    if (meant !== undefined) return { member: at, meant: meant.place };
  }
  return undefined;
};

/**
 * Makes the check of a body that refuses a member which seems to be one that decides, but is called otherwise or is in another place: ignoring it would
 * mean other rules, or rules that do not match. A member that is null says nothing, and neither does an empty one in another place.
 */
export const compileDeciding = (members: DecidingMembers): ((body: Json | undefined) => void) => {
  const holders = holdersOf(members);
  /** @throws Rejection MEMBER_MISSPELT */
  return (body) => {
    if (!isObject(body)) return;
    for (const holder of holders) {
      const mistaken = mistakenIn(body, holder);
      if (mistaken === undefined) continue;
      const { member, meant } = mistaken;
      throw new Rejection('MEMBER_MISSPELT', { details: { member, ...(meant === null ? {} : { meant }) } });
    }
  };
};
