/** Turns texts about a person into that person's own speech: grammar by a few patterns, which leaves unrecognised text unchanged. */

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Verbs whose form with "I" is not the form without "s". */
const IRREGULAR: Readonly<Record<string, string>> = {
  is: 'am',
  has: 'have',
  does: 'do',
  was: 'was',
  "isn't": 'am not',
  "hasn't": "haven't",
  "doesn't": "don't",
  goes: 'go',
};
/** Words that end in "s" and are not verbs of the third person. */
const NO_VERB = new Set(['his', 'this', 'its', 'always', 'perhaps', 'sometimes', 'as', 'us', 'thus', 'besides', 'was']);

/** A verb of the third person ("keeps") as it follows "I" ("keep"). */
export const withoutS = (verb: string): string => {
  const known = IRREGULAR[verb];
  if (known !== undefined) return known;
  if (NO_VERB.has(verb) || !/[a-z]s$/.test(verb) || /ss$/.test(verb)) return verb;
  return verb
    .replace(/ies$/, 'y')
    .replace(/(?<=[sxzo]|[cs]h)es$/, '')
    .replace(/(?<=[^s])s$/, '');
};

const alsoDone = (_: string, link: string, verb: string): string => `${link} ${withoutS(verb)}`;

/** Words of the third person that mean the subject of the sentence. */
export const turned = (text: string): string =>
  text
    .replace(/\b(?:herself|himself|themselves)\b/gi, 'myself')
    .replace(
      new RegExp(`\\b(?:[Hh]e|[Ss]he) (${ADVERB}?)(\\w[\\w']*)`, 'g'),
      (_, adverb: string, verb: string) => `I ${adverb}${withoutS(verb)}`,
    )
    .replace(/\b(?:his|her)(?= [a-z])/g, 'my')
    .replace(/\b(?:His|Her)(?= [a-z])/g, 'My')
    .replace(/\b(?:him|her)\b/g, 'me')
    // "conjures lights and opens locks": the second verb has the same subject.
    .replace(/(, (?:and|but)) ([a-z]{3,}s)\b/g, alsoDone)
    .replace(/(,) ([a-z]{3,}s)(?= [^,.]{1,80}, (?:and|or) )/g, alsoDone)
    .replace(/\b(and|but) ([a-z]{3,}s)(?= (?!(?:of|to|for|from|in|on|at|with|and|or)\b)[a-z])/g, alsoDone);

/** Adverbs between a subject and its verb: "never talks". */
const ADVERB = '(?:(?:never|always|often|seldom|rarely|sometimes|usually|hardly|only|still|also|really|secretly) )';

/** Past tenses that are never participles, and "lost her brother" and the like, which tell what someone did. */
const PAST =
  '(?:was|were|had|did|went|came|saw|took|gave|knew|grew|fell|began|ran|broke|wrote|spoke|stole|fled|became|lost (?:my|his|her|their|an?|the|one|two|all|every)|left (?:my|his|her|their|an?|the))';
/** "is proud, blunt and lost her brother": with "am" for "is", the deed would follow "am". */
const MIXED = new RegExp(`^ (?:(?!\\b(?:who|whose|which|that)\\b)[^.;])*?(?:,|\\b(?:and|but)) ${PAST}\\b`);

/** A sentence whose subject is this name, said by the bearer of the name; null if the name is not its subject. */
export const saidByItself = (sentence: string, name: string): string | null => {
  const subject = new RegExp(
    `^${escape(name)}(?:,? (?:of|from) [^,]*?(?= \\w+s ))?,? (?:who |also )?(?<adverb>${ADVERB}?)(?!(?:an?|the|of|from|in|with|by|and|or|one|once)\\b)(?<verb>[a-z][\\w']*)(?<rest>[^]*)$`,
  );
  const { adverb = '', verb, rest } = subject.exec(sentence)?.groups ?? {};
  if (verb === undefined || rest === undefined || (verb === 'is' && MIXED.test(rest))) return null;
  return `I ${adverb}${withoutS(verb)}${turned(rest)}`;
};

const MIRRORED: Readonly<Record<string, string>> = {
  i: 'you',
  me: 'you',
  my: 'your',
  mine: 'yours',
  myself: 'yourself',
  am: 'are',
  "i'm": 'you are',
  "i've": 'you have',
  "i'll": 'you will',
  "i'd": 'you would',
  we: 'you',
  us: 'you',
  our: 'your',
  ours: 'yours',
  ourselves: 'yourselves',
  "we're": 'you are',
  "we've": 'you have',
  "we'll": 'you will',
  "we'd": 'you would',
  you: 'I',
  your: 'my',
  yours: 'mine',
  yourself: 'myself',
  "you're": 'I am',
  "you've": 'I have',
  "you'll": 'I will',
  "you'd": 'I would',
};

/** Verbs that change with the word before them. */
const AFTER: Readonly<Record<string, string>> = {
  'i was': 'were',
  "i wasn't": "weren't",
  'you are': 'am',
  "you aren't": 'am not',
  'you were': 'was',
  "you weren't": "wasn't",
};
/** Words after which "you" is an object. */
const BEFORE_OBJECT = new Set(
  `like tell told give gave given help helped see saw seen met meet
  ask asked owe owed love loved trust trusted pay paid bring brought send sent show showed lend lent offer sell sold buy bought thank hate hated follow
  leave left find found kill killed hurt save saved fear need want call called make made keep kept let hear heard teach taught
  serve visit miss cheat cheated rob robbed warn warned promise promised remind reminded cost`.split(/\s+/),
);
/** Words after which "you" is a subject even at the end of a clause ("as you", "who are you"). */
const BEFORE_SUBJECT = new Set([
  '',
  'as',
  'than',
  'and',
  'or',
  'is',
  'are',
  'am',
  'was',
  'were',
  'do',
  'did',
  'will',
  'can',
]);
const CLAUSE_END = /^\s*(?:[.,;:!?"”)]|$)/;

/** After a verb, "you" and one of these begin a clause: "I hear you can cook". */
const AUXILIARY =
  /^(?:'\w+| (?:are|were|have|had|will|can|could|would|should|must|may|might|do|did|never|always|also)\b)/i;
const PREPOSITION = new Set(
  'to with at for from by of about near behind beside against without between around'.split(' '),
);

/** Whether "you" is an object. */
const isObject = (before: string, behind: string): boolean =>
  PREPOSITION.has(before) ||
  (BEFORE_OBJECT.has(withoutS(before)) && !AUXILIARY.test(behind)) ||
  (CLAUSE_END.test(behind) && !BEFORE_SUBJECT.has(before));

/** "It makes you sleepy": here "you" means anyone, not the listener. */
const ANYBODY = new Set(['makes', 'keeps', 'lets', 'gets', 'drives', 'turns', 'costs']);

/** After these, "mine" is a possessive, whatever precedes them: "the sword is mine", "a friend of mine". */
const BEFORE_POSSESSOR = new Set('is are was were be been not of than and or but with to for from'.split(' '));
/** Up to a "mine" that is a pit: after an article or similar, with at most two words in between. */
const UP_TO_A_PIT =
  /\b(?:the|an?|this|that|every|each|no|any|some|another|my|your|his|her|its|our|their|\w+'s)(?: [a-z]+){0,2} $/i;

/** Whether "mine" after these words is a pit, and not a possessive. */
const isPit = (before: string): boolean => {
  const last = /([a-z']+) $/i.exec(before)?.[1]?.toLowerCase() ?? '';
  return UP_TO_A_PIT.test(before) && !BEFORE_POSSESSOR.has(last) && !BEFORE_OBJECT.has(withoutS(last));
};

/** A text without its mines that are pits, to find out whom the rest is about. */
export const withoutPits = (text: string): string =>
  text.replace(/\bmine\b/gi, (word, at: number, whole: string) => (isPit(lineUpTo(whole, at)) ? 'pit' : word));

/** How much of the text before a position is examined, in UTF-16 units. */
const LOOKED_BACK = 80;
const lineUpTo = (text: string, at: number): string => text.slice(Math.max(0, at - LOOKED_BACK), at);

/** Swaps the words for the speaker and the listener, if `turns` agrees. */
const mirrored = (text: string, turns: (word: string, before: string) => boolean): string => {
  let before = '';
  return text.replaceAll('’', "'").replace(/[a-z]+(?:'[a-z]+)?/gi, (word, at: number, whole: string) => {
    const lower = word.toLowerCase();
    const behind = whole.slice(at + word.length);
    const beginsSentence = at === 0 || /[.!?]\s+$/.test(whole.slice(Math.max(0, at - 4), at));
    const last = beginsSentence ? '' : before;
    const turned =
      lower === 'you' && turns(lower, last) && isObject(last, behind)
        ? 'me'
        : (AFTER[`${before} ${lower}`] ??
          (turns(lower, last) && !(lower === 'mine' && isPit(lineUpTo(whole, at))) ? MIRRORED[lower] : undefined) ??
          word);
    before = lower;
    return beginsSentence && at > 0 ? upperFirst(turned) : turned;
  });
};

/** An utterance to the NPC as the NPC says it back: "I lost my sword" becomes "you lost your sword". */
export const saidBack = (text: string): string =>
  mirrored(text, (word, before) => word !== 'you' || !ANYBODY.has(before));

/** An utterance about the NPC as the NPC says it: "You lost your sword" becomes "I lost my sword". */
export const saidOfOneself = (text: string): string => upperFirst(mirrored(text, (word) => word.startsWith('you')));

/** The first letter in lower case, unless the word is "I" or looks like a name in the middle of a sentence. */
export const lowerFirst = (text: string): string =>
  /^(?:The|A|An|There|It|They|He|She|We|You|Your|My|Our|His|Her|Their|Some|Someone|Somebody|Nobody|No|In|On|At|When|Last|This|That|These|Those|Every|Each|All|Two|Three|Four|One)\b/.test(
    text,
  )
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;

/** A sentence as it follows other words; null if its first word may or may not be a name, so that its capital can neither be kept nor removed. */
export const withinSentence = (text: string): string | null => {
  const lowered = lowerFirst(text);
  return /^(?:[a-z]|I\b|I')/.test(lowered) ? lowered : null;
};

export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A sentence without white space around it, with a mark at its end. */
export const sentence = (text: string): string => {
  const trimmed = text.trim();
  return /[.!?…]["'”’)]?$/.test(trimmed) ? trimmed : `${trimmed}.`;
};
