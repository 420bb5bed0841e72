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

/** The things that are carried, according to the state; null if it has no such member. */
export const carriedIn = (state: JsonObject): readonly string[] | null => {
  const value = state['inventory'] ?? state['items'] ?? state['wares'] ?? state['stock'];
  return Array.isArray(value) ? thingNamesIn(value) : null;
};

/** The first of these names that a text mentions. */
export const namedIn = (names: readonly string[], text: string): string | null => {
  const topics = topicsOf(text);
  return names.find((name) => [...topicsOf(name)].some((topic) => topics.has(topic))) ?? null;
};

/** How many things are listed in one answer. */
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
/** Determiners and adjectives before a noun. */
export const ADJECTIVES =
  'old|new|young|little|big|great|small|tall|red|black|white|dark|blue|green|silver|golden|gold|iron|brass|ruby|ferry|honey|last|other|same|whole|wild|dead|lost|stolen|north|south|east|west|northern|southern|good|bad|best|holy|secret|broken|burned|strange|heavy|fine';
/** What follows a noun: the end, a function word or a verb. Before anything else the word may have been an adverb or an adjective. */
const AFTER_NOUN =
  '(?![\\w\'-])(?=\\s*(?:[?.!,;:"”)]|$)| (?:of|for|to|from|if|left|please|now|here|there|today|yesterday|again|ago|before|after|behind|near|under|over|by|with|without|on|in|into|at|is|are|was|were|and|or|but|that|who|which|just|has|have|had|did|does|do|can|could|will|would|must|saw|took|went|came|told|said|gave|made|stole|fell|ran|found|lost|got|knows?|\\w{3,}ed)\\b)';
const noun = new RegExp(
  `\\b(?<which>any|some|an?|the|your|my|this|these|those|one|two|three|another|more) (?<thing>(?:(?:${ADJECTIVES}) ){0,2}[a-z][\\w-]+)${AFTER_NOUN}`,
  'gi',
);
const EMPTY_THING =
  /^(?:player|traveller|traveler|stranger|visitor|guest|adventurer|customer|user|it|that|this|them|me|you|us|something|anything|everything|nothing|there|here|moment|way|lot|bit|time|day|one|go|be|do|to|why|what|how|more|like)\b/i;

/** "Have" as an auxiliary: "What have I told you?" */
const HAVING_DONE =
  /(?:\b(?:who|whom|what|when|where|why|how|which) (?:have|has|had)|^(?:have|has|had)) (?:I|you|he|she|it|we|they)\b(?! (?:an?|any|some|the|got)\b)/gi;
/** A verb after "does the ferry", whose noun may precede another one. */
const WITH_VERB = /^(?<noun>(?:[a-z]+ )?(?:ferry|honey|silver|gold|iron|brass|ruby)) [a-z]+$/i;
const BEHIND_AUXILIARY = /\b(?:do|does|did|will|would|can|could|shall|should|may|might|must) $/i;

/** The thing that is requested or asked about, in the speaker's words; null if none can be named. */
export const wishedThing = (text: string): string | null => {
  const thing = wish.exec(text.replace(HAVING_DONE, ''))?.groups?.['thing'];
  return thing === undefined || EMPTY_THING.test(thing) ? null : thing;
};

/** The subject of a sentence, with its article and from the NPC's side ("my sword" is "your sword"); null if no noun is prominent. */
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
