import type { Json, JsonObject } from '../../../kernel/base/json.js';
import { topicsOf } from './words.js';

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== '';

/** Names of things in a list: texts, and objects that have a name. */
export const thingNamesIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value)
    ? (value as readonly Json[]).flatMap((one) => {
        if (isText(one)) return [one];
        const name = typeof one === 'object' && one !== null ? (one as JsonObject)['name'] : undefined;
        return isText(name) ? [name] : [];
      })
    : [];

/** What the state says is carried; null when it says nothing. */
export const carriedIn = (state: JsonObject): readonly string[] | null => {
  const value = state['inventory'] ?? state['items'] ?? state['wares'] ?? state['stock'];
  return Array.isArray(value) ? thingNamesIn(value) : null;
};

/** The first of these names that a text speaks of. */
export const namedIn = (names: readonly string[], text: string): string | null => {
  const topics = topicsOf(text);
  return names.find((name) => [...topicsOf(name)].some((topic) => topics.has(topic))) ?? null;
};

/** How many things are told at once. */
const LISTED = 12;

/** "a, b and c" */
export const listed = (all: readonly string[]): string => {
  const names = all.length > LISTED ? [...all.slice(0, LISTED), 'more'] : all;
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
};

const END =
  '(?=[?.!,;]|$| (?:for|to|from|left|please|now|here|today|again|before|with|if|on|in|at|is|are|was|were|and|just|me|you|I|has|have|had|did|do)\\b)';
const wish = new RegExp(
  `\\b(?:have|sell|lend|give|hand|buy|need|want|show|fetch|bring|use|open|pass|asks for|begs for|would like|about)(?: you| me| us)? (?:(?:any|some|an?|the|your|my|that|this|one|another|more) )?(?:of )?(?:piece of |bit of |bowl of |cup of )?(?<thing>[a-z][\\w'-]*(?: [a-z][\\w'-]*){0,2}?)${END}`,
  'i',
);
/** Words that stand before a noun and say which one. */
export const ADJECTIVES =
  'old|new|young|little|big|great|small|tall|red|black|white|dark|blue|green|silver|golden|gold|iron|brass|ruby|ferry|honey|last|other|same|whole|wild|dead|lost|stolen|north|south|east|west|northern|southern|good|bad|best|holy|secret|broken|burned|strange|heavy|fine';
/** What follows a noun: the end, a word of grammar or a verb. Behind anything else the word before may have been an adverb or an adjective. */
const AFTER_NOUN =
  '(?![\\w\'-])(?=\\s*(?:[?.!,;:"”)]|$)| (?:of|for|to|from|if|left|please|now|here|there|today|yesterday|again|ago|before|after|behind|near|under|over|by|with|without|on|in|into|at|is|are|was|were|and|or|but|that|who|which|just|has|have|had|did|does|do|can|could|will|would|must|saw|took|went|came|told|said|gave|made|stole|fell|ran|found|lost|got|knows?|\\w{3,}ed)\\b)';
const noun = new RegExp(
  `\\b(?<which>any|some|an?|the|your|my|this|these|those|one|two|three|another|more) (?<thing>(?:(?:${ADJECTIVES}) ){0,2}[a-z][\\w-]+)${AFTER_NOUN}`,
  'gi',
);
const EMPTY_THING =
  /^(?:player|traveller|traveler|stranger|visitor|guest|adventurer|customer|user|it|that|this|them|me|you|us|something|anything|everything|nothing|there|here|moment|way|lot|bit|time|day|one|go|be|do|to|why|what|how|more|like)\b/i;

/** "Have" that goes with another verb: "What have I told you?" */
const HAVING_DONE =
  /(?:\b(?:who|whom|what|when|where|why|how|which) (?:have|has|had)|^(?:have|has|had)) (?:I|you|he|she|it|we|they)\b(?! (?:an?|any|some|the|got)\b)/gi;
/** A verb behind "does the ferry", whose noun may stand before another one. */
const WITH_VERB = /^(?<noun>(?:[a-z]+ )?(?:ferry|honey|silver|gold|iron|brass|ruby)) [a-z]+$/i;
const BEHIND_AUXILIARY = /\b(?:do|does|did|will|would|can|could|shall|should|may|might|must) $/i;

/** The thing that somebody wants or asks about, as he calls it; null when there is none to name. */
export const wishedThing = (text: string): string | null => {
  const thing = wish.exec(text.replace(HAVING_DONE, ''))?.groups?.['thing'];
  return thing === undefined || EMPTY_THING.test(thing) ? null : thing;
};

/** What a sentence is about, with its article and from our side ("my sword" is "your sword"); null when no noun stands out. */
export const subjectOf = (text: string): string | null => {
  const found = [...text.matchAll(noun)].find(
    ({ groups }) => !EMPTY_THING.test(groups?.['thing'] ?? 'it') && topicsOf(groups?.['thing'] ?? '').size > 0,
  );
  if (found === undefined) return null;
  const { which = '', thing: words = '' } = found.groups ?? {};
  const isSubject = BEHIND_AUXILIARY.test(text.slice(0, found.index));
  const thing = (isSubject ? WITH_VERB.exec(words)?.groups?.['noun'] : undefined) ?? words;
  const article =
    { my: 'your', your: 'my', a: 'a', an: 'an' }[which.toLowerCase()] ??
    (/^(?:any|some|more|another|one)$/i.test(which) ? '' : which.toLowerCase());
  return `${article} ${thing}`.trim();
};
