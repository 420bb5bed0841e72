import { cutText } from '../../../kernel/base/text.js';
import { wordsOf } from '../../../kernel/base/words.js';
import { holdsAll, holdsKeys } from './asked.js';
import { saidBack, saidByItself, sentence, upperFirst, withinSentence, withoutPits } from './own-view.js';
import type { Fact, Self } from './self.js';
import { languageOf } from './language.js';
import type { Memory, PromptContent } from './situation.js';
import { looksCrafted, newsIn, spokenIn, statementsIn } from './statements.js';
import { topicsOf } from './words.js';

/** The maximum length of a memory in an answer, in UTF-16 units. */
const TOLD_CHARS = 400;
/** How much of a memory is examined. */
const EXAMINED_CHARS = 500;
/** A second memory is included if its score is at least this share of the first one's. */
const NEARLY = 0.8;

/** The weight of a word with nearly the same meaning. */
const ALIKE = 0.7;
/** A memory is stated with certainty if it holds this share of the subject of the question. */
const SURE = 0.35;
/** The same for a sentence of the persona, which is always true. */
const FACT = 0.3;
/**
 * From this similarity on, the engine mentions, with care, a memory that shares hardly a word with the question. Unrelated memories score below 0.5.
 */
const SIMILAR = 0.54;
/** A memory that shares a word is stated with certainty if it is this similar and lacks nothing. */
const SURELY_SIMILAR = 0.55;
/** A memory that shares no word is stated with certainty if it is this similar. */
const VERY_SIMILAR = 0.65;

const sharedWords = (one: string, other: string): string => {
  const held = new Set(wordsOf(other));
  return wordsOf(one)
    .filter((word) => held.has(word))
    .join(' ');
};

/** The scores of memories: the share of the utterance that they contain, from 0 to 1; words that few of them hold count more. */
const scored = <T extends { readonly text: string }>(
  memories: readonly T[],
  said: string,
  leftOut: ReadonlySet<string>,
) => {
  // "give" carries no meaning in a request, but much in a question about the past.
  const asked = said.replace(/\b(did (?:\w+ ){1,2})(?:give|bring)\b/gi, '$1gave');
  const topics = [...topicsOf(asked, languageOf(asked))].filter((topic) => !leftOut.has(topic));
  const held = memories.map((memory) => ({ memory, topics: topicsOf(memory.text) }));
  const weight = (topic: string): number => 1 / (1 + held.filter((one) => one.topics.has(topic)).length);
  const whole = topics.reduce((sum, topic) => sum + weight(topic), 0);
  return held
    .map((one, place) => {
      const same = topicsOf(sharedWords(asked, one.memory.text), languageOf(asked));
      const score = topics
        .filter((topic) => one.topics.has(topic))
        .reduce((sum, topic) => sum + weight(topic) * (same.has(topic) ? 1 : ALIKE), 0);
      return { ...one.memory, score: score / whole, place };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.place - other.place);
};

const sameWords = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase();
const isQuestion = (text: string): boolean => /\?["”]?$/.test(text.trim());

/** What a memory states; `isNews` if a player told it as a question. */
type Stated = Memory & { readonly isNews?: true };

const statedIn = (memory: Memory, said: string): readonly Stated[] => {
  const text = cutText(memory.text, EXAMINED_CHARS);
  if (sameWords(text, said)) return [];
  const news = newsIn(text);
  if (news !== null) return [{ ...memory, text: news, isNews: true }];
  const stated = statementsIn(text);
  return stated === '' ? [] : [{ ...memory, text: stated }];
};

/** The answers to a question: at most two memories, best first; uncertain if they match mostly by meaning, or lack a key word of the question. */
export type Fitting = { readonly found: readonly Stated[]; readonly isSure: boolean };

/** The retraction in a sentence: "My name is not Kestrel, it is Rowan." */
type Correction = {
  /** The corrected value. */
  readonly now: string;
  readonly old: string;
  /** Whether a text has the same subject: one or all of these topics. */
  readonly isAbout: (topics: ReadonlySet<string>) => boolean;
};

const MARKER = /^(?:(?:no|actually|sorry|wait|i mean),? )+/i;
const NOW_LAST =
  /^(?<subject>[^,.;]{1,80}?) (?<verb>is|are|am|was|were)(?: not|n't) (?<old>[^,.;]{1,80}?)(?:[,;]? but|[,;.]? (?:it|he|she|that)(?: is|'s| was)) (?<now>[^,.;]{1,80})\.?$/i;
const NOW_FIRST =
  /^(?<subject>[^,.;]{1,80}?) (?<verb>is|are|am|was|were) (?<now>[^,.;]{1,80}), (?:and )?not (?<old>[^,.;]{1,80})\.?$/i;
/** "The baker closes on Sundays, not Fridays.": the part before the last item applies to both. */
const ANY_VERB =
  /^(?<same>[^,.;]{1,100}?)(?: (?:on|in|at|to|by|with|under|from|for|near|behind|over|of|the|an?|my|your|his|her|their))* [^\s,.;]{1,40}, (?:and )?not (?<old>[^,.;]{1,80})\.?$/i;

const correctionIn = (text: string): Correction | null => {
  const plain = text.replaceAll('’', "'").replace(MARKER, '');
  const { subject, verb, old, now } = (NOW_LAST.exec(plain) ?? NOW_FIRST.exec(plain))?.groups ?? {};
  if (subject !== undefined && verb !== undefined && old !== undefined && now !== undefined) {
    const about = [...topicsOf(subject)];
    return { now: `${subject} ${verb} ${now}.`, old, isAbout: (topics) => about.some((topic) => topics.has(topic)) };
  }
  const other = ANY_VERB.exec(plain)?.groups;
  if (other?.['same'] === undefined || other['old'] === undefined) return null;
  const about = [...topicsOf(other['same'])];
  return {
    now: upperFirst(plain),
    old: other['old'],
    isAbout: (topics) => about.length > 0 && about.every((topic) => topics.has(topic)),
  };
};

/** Whether a text still states what a correction retracts. */
const isTakenBack = (text: string, { old, isAbout }: Correction): boolean => {
  const topics = topicsOf(text);
  const gone = [...topicsOf(old)];
  return gone.length > 0 && gone.every((topic) => topics.has(topic)) && isAbout(topics);
};

/** The memories after corrections among them. Prompts do not show which memory is newer, but a correction is newer than what it corrects. */
const corrected = <T extends { readonly text: string }>(memories: readonly T[]): readonly T[] => {
  const read = memories.map((memory) => ({ memory, correction: correctionIn(memory.text) }));
  const corrections = read.flatMap(({ correction }) => correction ?? []);
  return read.flatMap(({ memory, correction }) => {
    if (correction !== null) return [{ ...memory, text: correction.now }];
    return corrections.some((one) => isTakenBack(memory.text, one)) ? [] : [memory];
  });
};

/**
 * The statements in the memories and in the conversation that match the utterance, without what was just said. A memory that shares hardly a word
 * matches by its meaning, if the recall reported it as similar.
 */
export const fittingMemories = (
  { memories, before }: Pick<PromptContent, 'memories' | 'before'>,
  said: string,
  { name }: Self,
): Fitting | null => {
  const heard = before
    .map(({ heard: text }) => ({ text }))
    .filter(({ text }) => memories.every((one) => one.text !== text));
  const known = corrected([...memories, ...heard].flatMap((memory) => statedIn(memory, said)));
  const leftOut = topicsOf(name ?? '');
  const fitting = scored(known, said, leftOut);
  const [best, second] = fitting.filter(
    ({ text, similarity = 0, score }) =>
      holdsKeys(text, said, leftOut) &&
      (score >= SURE || (similarity >= SURELY_SIMILAR && holdsAll(text, said, leftOut))),
  );
  if (best !== undefined) {
    const isNear = second !== undefined && second.score >= best.score * NEARLY;
    return { found: isNear ? [best, second] : [best], isSure: true };
  }
  const isOfListener = isAboutListener(said);
  const [closest] = known
    .filter(({ text, similarity = 0 }) => similarity >= SIMILAR && !(isOfListener && introduces.test(text)))
    .toSorted((one, other) => (other.similarity ?? 0) - (one.similarity ?? 0));
  if (closest === undefined) {
    const [first] = memories.every(({ similarity }) => similarity === undefined) ? fitting : [];
    return first === undefined ? null : { found: [first], isSure: false };
  }
  const isParaphrase =
    (closest.similarity ?? 0) >= VERY_SIMILAR && topicsOf(sharedWords(said, closest.text), languageOf(said)).size === 0;
  return { found: [closest], isSure: isParaphrase };
};

/** What the persona says in answer to a question; null if no sentence of it has this share of the question, and all its keys. */
export const fittingFact = ({ name, facts }: Self, said: string, share = FACT): Fact | null => {
  const leftOut = topicsOf(name ?? '');
  const plain = facts.filter(({ text }) => !looksCrafted(text));
  const [best] = scored(plain, said, leftOut).filter(({ text }) => holdsKeys(text, said, leftOut));
  return best !== undefined && best.score >= share ? best : null;
};

/** Whether the same question was asked before. */
export const wasAsked = (memories: readonly Memory[], said: string): boolean =>
  isQuestion(said) && memories.some(({ text }) => sameWords(text, said));

const PLAYER_VERBS: Readonly<Record<string, string>> = { was: 'were', is: 'are', has: 'have', does: 'do' };

/** "The player stole it" as it is told to the player. */
const toPlayer = (text: string): string =>
  text
    .replace(/\bthe player['’]s\b/gi, 'your')
    .replace(/\bthe player (was|is|has|does)\b/gi, (_, verb: string) => `you ${PLAYER_VERBS[verb] ?? verb}`)
    .replace(
      /\bthe player (ask|owe|want|know|live|seek|need|say|hate|love|like|own|carrie|fear)s\b/gi,
      (_, verb: string) => `you ${verb.replace(/ie$/, 'y')}`,
    )
    .replace(/\bthe player\b/gi, 'you');

/** Sentences that only the other speaker can have said. */
const introduces =
  /^(?:my name is|i am called|call me|i'm called|i come from|i'm from|i am from|ich heiße|ich komme aus)(?![\wß])/i;
const ofOneself = /\b(?:I|me|my|mine|myself|we|us|our|ours|ich|mich|mir|mein\w*|wir|uns|unser\w*)\b/i;
const ofListener = /\b(?:you|your|yours|yourself|du|dich|dir|dein\w*|euch|euer\w*)\b/i;
/** A narration by the one who remembers, about a person whose name is unknown. */
const ofSomebody =
  /^(?:the|an?|this|that|some) (?:player|traveller|traveler|stranger|visitor|guest|adventurer|customer|hero|user)\b/i;
/** Asks whether the listener knows something, which is not a question about his deeds. */
const askingToKnow =
  /\b(?:do|did|can|could|would|will|have|had) you (?:please |perhaps |happen to |still |even |ever )*(?:know|remember|recall|tell|say|think|hear|heard|remind)\b/gi;
/** "Did you …?" asks only whether: the deed may be anyone's. */
const asksForDeeds =
  /\b(?:what|where|when|why|how|whom?|which)\b.{0,80}\b(?:do|did|have|had|are|were|can|could|will|would) you\b/i;

/** Whether a question is about the listener: his life, not what he knows of another. */
export const isAboutListener = (said: string): boolean =>
  ofListener.test(said.replace(askingToKnow, '')) && !isOfSpeaker(said);

/** Whether a question is about the one who asks. */
export const isOfSpeaker = (said: string): boolean =>
  ofOneself.test(withoutPits(said.replace(/\b(?:tell|show|help|teach) me\b/gi, '')));

/** Whether a memory is an earlier utterance of the questioner; "I" in it may be either, and the subject of the question decides. */
const isTheirs = (text: string, asked: string): boolean => {
  if (ofSomebody.test(text)) return false;
  if (introduces.test(text) || ofListener.test(text)) return true;
  if (!ofOneself.test(withoutPits(text))) return false;
  const about = asked.replace(/\b(?:tell|remind|show|give|help|teach) me\b/gi, '');
  return ofOneself.test(about) || !asksForDeeds.test(about.replace(askingToKnow, ''));
};

/** A memory as its owner tells it. `theirWords`: the other speaker said it. `isQuote`: its words are as they were. */
export type ToldMemory = {
  readonly whole: string;
  readonly within: string | null;
  readonly theirWords: boolean;
  readonly isQuote?: true;
};

const told = (text: string, theirWords: boolean): ToldMemory => {
  const said = sentence(text.trim());
  return { whole: upperFirst(said), within: withinSentence(said), theirWords };
};

/** The keys before a text of lore, which are not spoken: "shadowfang: They are wolves." A name with a capital may also be that of a speaker. */
const LORE_KEYS =
  /^(?:[\p{Ll}\d][\p{L}\d'’ ,_-]{0,255}: (?=\p{Lu})|\p{Lu}[\p{L}\d'’ ,_-]{0,255}: (?=(?:They|It|He|She|The|An?) (?!.*\b(?:I|my|me)\b)))/u;

/** Turns a memory to its owner's point of view, to tell it to the questioner. Only English can be turned; anything else is quoted. */
export const tellMemory = ({ text: memory, isNews }: Stated, asked: string, { name }: Self): ToldMemory => {
  const text = cutText(memory.trim().replace(LORE_KEYS, ''), TOLD_CHARS);
  if (languageOf(text) === 'de' || languageOf(asked) !== 'en')
    return { whole: text, within: text, theirWords: isNews === true || ofOneself.test(text), isQuote: true };
  const spoken = spokenIn(text);
  if (spoken !== null) return told(saidBack(spoken), true);
  const theirs = isNews === true || isTheirs(text, asked);
  const view = theirs ? saidBack(text) : text;
  const own = name === null ? null : (saidByItself(view, name) ?? firstNamed(view, name));
  return told(toPlayer(own ?? view), theirs);
};

/** The same for a text that uses the first of several names. */
const firstNamed = (text: string, name: string): string | null => {
  const [first = ''] = name.split(' ');
  return first === name || first.length < 3 ? null : saidByItself(text, first);
};
