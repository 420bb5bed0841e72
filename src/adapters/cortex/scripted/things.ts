import type { Json, JsonObject } from '../../../kernel/base/json.js';
import type { Language } from './language.js';
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

/** "a, b and c", in the language of the answer. */
export const listed = (all: readonly string[], language: Language = 'en'): string => {
  const [and, more] = language === 'de' ? ['und', 'mehr'] : ['and', 'more'];
  const names = all.length > LISTED ? [...all.slice(0, LISTED), more] : all;
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${and} ${names.at(-1) ?? ''}`;
};

/** Things that are not counted, by the last word of their name. */
const MASS = new Set(
  `bread flour butter cheese meat fish beef pork ham bacon honey salt sugar pepper spice wine ale beer mead cider water milk oil tea coffee rum food
  grain wheat rye barley hay straw wood timber firewood coal iron steel silver gold copper tin bronze lead brass glass clay sand leather wool cloth silk linen fur
  paper parchment ink money cash rope twine armour clothing jewelry jewellery powder dust poison medicine soap wax tobacco incense fruit rice soup stew`.split(
    /\s+/,
  ),
);

/** A thing with "a" or "an", unless its name has a number or a capital, is a plural, or means something that is not counted. */
export const withArticle = (name: string): string => {
  const last = name.split(' ').at(-1) ?? '';
  const isBare =
    !/^[a-z][a-z' -]*$/.test(name) ||
    /^(?:an?|the|some|my|your|his|her|its|our|their|two|three|four|five|six|many|several|no)\b/.test(name) ||
    (/s$/.test(last) && !/(?:ss|us)$/.test(last)) ||
    /^(?:\w+men|geese|mice|teeth|feet|people|sheep|dice)$/.test(last) ||
    MASS.has(last);
  return isBare ? name : `${/^(?!uni|use|ute)[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;
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
const EMPTY_THING =
  /^(?:player|traveller|traveler|stranger|visitor|guest|adventurer|customer|user|it|that|this|them|me|you|us|something|anything|everything|nothing|there|here|moment|way|lot|bit|time|day|one|go|be|do|to|why|what|how|more|like)\b/i;

/** "Have" as an auxiliary: "What have I told you?" */
const HAVING_DONE =
  /(?:\b(?:who|whom|what|when|where|why|how|which) (?:have|has|had)|^(?:have|has|had)) (?:I|you|he|she|it|we|they)\b(?! (?:an?|any|some|the|got)\b)/gi;
const wishGerman =
  /\b(?:hast|habt|verkaufst|gib|brauche|möchte|will|kaufe?n?|reich|bring)\b(?: (?:du|ihr|mir|noch|bitte|dir|gern))*(?: (?:eine?n?|de[nr]|die|das|etwas|deine?n?))? (?<thing>\p{Lu}[\p{L}-]{1,40})/u;
const gift =
  /\b(?:brought|bring|got|give|gives|gave|hand|hands|offer|offers|brings) you (?<thing>(?:an?|the|some|this|these|my|two|three) [a-z][a-z' -]{1,40}?)(?=[.!?,;]|$| (?:for|from|to|and|that|which|as)\b)/i;

/** The gift that is handed over, with its article; null if none can be named. */
export const givenThing = (text: string): string | null =>
  gift.exec(text)?.groups?.['thing']?.replace(/^my /i, 'your ') ?? null;

/** The thing that is requested or asked about, in the speaker's words; null if none can be named. */
export const wishedThing = (text: string, language: Language): string | null => {
  const thing = (
    language === 'de'
      ? wishGerman.exec(text.charAt(0).toLowerCase() + text.slice(1))
      : wish.exec(text.replace(HAVING_DONE, ''))
  )?.groups?.['thing'];
  return thing === undefined || EMPTY_THING.test(thing) ? null : thing;
};
