import { cutText } from '../../../kernel/base/text.js';
import { wordsOf } from '../../../kernel/base/words.js';
import { holdsAll, holdsKeys } from './asked.js';
import { saidBack, saidByItself, sentence, upperFirst, withinSentence, withoutPits } from './own-view.js';
import type { Self } from './self.js';
import type { PromptContent } from './situation.js';
import { spokenIn, statementsIn } from './statements.js';
import { topicsOf } from './words.js';

/** Of a memory that is told, in UTF-16 units. */
const TOLD_CHARS = 400;
/** A second memory is told as well if it fits nearly as well as the first. */
const NEARLY = 0.8;

/** What a word counts that only means nearly the same. */
const ALIKE = 0.7;
/** A memory is told as what was asked for if it holds this part of what the question is about. */
const SURE = 0.35;
/** From this similarity on, the engine mentions, with care, a memory that shares hardly a word with the question. Unrelated memories score below 0.5. */
const SIMILAR = 0.54;
/** One that shares a word is told as what was asked for if it is that similar and lacks nothing. */
const SURELY_SIMILAR = 0.55;
/** One that shares none is told as what was asked for if it is that similar. */
const VERY_SIMILAR = 0.65;

const sharedWords = (one: string, other: string): string => {
  const held = new Set(wordsOf(other));
  return wordsOf(one)
    .filter((word) => held.has(word))
    .join(' ');
};

type StatedMemory = { readonly text: string; readonly similarity?: number | undefined };

/** How well memories fit: which part of what is said is in them, from 0 to 1; what few of them hold counts more. */
const scored = <T extends StatedMemory>(memories: readonly T[], said: string, leftOut: ReadonlySet<string>) => {
  // "give" says nothing in a wish, and much in a question about the past.
  const asked = said.replace(/\b(did (?:\w+ ){1,2})(?:give|bring)\b/gi, '$1gave');
  const topics = [...topicsOf(asked)].filter((topic) => !leftOut.has(topic));
  const held = memories.map((memory) => ({ memory, topics: topicsOf(memory.text) }));
  const weight = (topic: string): number => 1 / (1 + held.filter((one) => one.topics.has(topic)).length);
  const whole = topics.reduce((sum, topic) => sum + weight(topic), 0);
  return held
    .map((one, place) => {
      const same = topicsOf(sharedWords(asked, one.memory.text));
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

/** What fits a question: at most two texts, best first; not sure where little but their meaning says so, or where they lack what the question turns on. */
export type Fitting = { readonly texts: readonly string[]; readonly isSure: boolean };

/** What a sentence takes back: "My name is not Kestrel, it is Rowan." */
type Correction = {
  /** What it says is so. */
  readonly now: string;
  readonly old: string;
  /** Whether a text is about the same: has these topics, one of them or all. */
  readonly isAbout: (topics: ReadonlySet<string>) => boolean;
};

const MARKER = /^(?:(?:no|actually|sorry|wait|i mean),? )+/i;
const NOW_LAST =
  /^(?<subject>[^,.;]{1,80}?) (?<verb>is|are|am|was|were)(?: not|n't) (?<old>[^,.;]{1,80}?)(?:[,;]? but|[,;.]? (?:it|he|she|that)(?: is|'s| was)) (?<now>[^,.;]{1,80})\.?$/i;
const NOW_FIRST =
  /^(?<subject>[^,.;]{1,80}?) (?<verb>is|are|am|was|were) (?<now>[^,.;]{1,80}), (?:and )?not (?<old>[^,.;]{1,80})\.?$/i;
/** "The baker closes on Sundays, not Fridays.": what stands before the last thing is said of both. */
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

/** Whether a text still says what a correction takes back. */
const isTakenBack = (text: string, { old, isAbout }: Correction): boolean => {
  const topics = topicsOf(text);
  const gone = [...topicsOf(old)];
  return gone.length > 0 && gone.every((topic) => topics.has(topic)) && isAbout(topics);
};

/** Memories as corrections among them leave them. Prompts do not say which memory is newer, but who corrects speaks after what he corrects. */
const corrected = <T extends { readonly text: string }>(memories: readonly T[]): readonly T[] => {
  const read = memories.map((memory) => ({ memory, correction: correctionIn(memory.text) }));
  const corrections = read.flatMap(({ correction }) => correction ?? []);
  return read.flatMap(({ memory, correction }) => {
    if (correction !== null) return [{ ...memory, text: correction.now }];
    return corrections.some((one) => isTakenBack(memory.text, one)) ? [] : [memory];
  });
};

/**
 * What the memories state that fits what is said; what was just said is left out. What shares hardly a word with it fits by its meaning, if the one who
 * recalled it says that it is similar.
 */
export const fittingMemories = (
  { memories, similarities }: Pick<PromptContent, 'memories' | 'similarities'>,
  said: string,
  { name }: Self,
): Fitting | null => {
  const stated: readonly StatedMemory[] = memories
    .map((text, place) => ({
      text: sameWords(text, said) ? '' : statementsIn(text),
      similarity: similarities?.[place],
    }))
    .filter(({ text }) => text !== '');
  const known = corrected(stated);
  const leftOut = topicsOf(name ?? '');
  const fitting = scored(known, said, leftOut);
  const [best, second] = fitting.filter(
    ({ text, similarity = 0, score }) =>
      holdsKeys(text, said, leftOut) &&
      (score >= SURE || (similarity >= SURELY_SIMILAR && holdsAll(text, said, leftOut))),
  );
  if (best !== undefined) {
    const isNear = second !== undefined && second.score >= best.score * NEARLY;
    return { texts: isNear ? [best.text, second.text] : [best.text], isSure: true };
  }
  const isOfListener = ofListener.test(said.replace(askingToKnow, '')) && !ofOneself.test(said);
  const [closest] = known
    .filter(({ text, similarity = 0 }) => similarity >= SIMILAR && !(isOfListener && introduces.test(text)))
    .toSorted((one, other) => (other.similarity ?? 0) - (one.similarity ?? 0));
  if (closest === undefined) {
    const [first] = similarities === null ? fitting : [];
    return first === undefined ? null : { texts: [first.text], isSure: false };
  }
  const isParaphrase = (closest.similarity ?? 0) >= VERY_SIMILAR && fitting.every(({ text }) => text !== closest.text);
  return { texts: [closest.text], isSure: isParaphrase };
};

/** What the persona says of the one who is asked about himself; null when nothing of it fits. */
export const fittingFact = ({ name, facts }: Self, said: string): string | null => {
  const leftOut = topicsOf(name ?? '');
  const known = facts.map((text) => ({ text }));
  const [best] = ofListener.test(said)
    ? scored(known, said, leftOut).filter(({ text }) => holdsKeys(text, said, leftOut))
    : [];
  return best !== undefined && best.score >= SURE ? best.text : null;
};

/** Whether the same was asked before. */
export const wasAsked = (memories: readonly string[], said: string): boolean =>
  isQuestion(said) && memories.some((text) => sameWords(text, said));

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

/** What can only be the words of the one who talks to us. */
const introduces = /^(?:my name is|i am called|call me|i'm called|i come from|i'm from|i am from)\b/i;
const ofOneself = /\b(?:I|me|my|mine|myself|we|us|our|ours)\b/i;
const ofListener = /\b(?:you|your|yours|yourself)\b/i;
/** Told by the one who remembers, about somebody of whom he knows no name. */
const ofSomebody =
  /^(?:the|an?|this|that|some) (?:player|traveller|traveler|stranger|visitor|guest|adventurer|customer|hero|user)\b/i;
/** Asks whether the listener knows, which is not asking about his deeds. */
const askingToKnow =
  /\b(?:do|did|can|could|would|will|have|had) you (?:please |perhaps |happen to |still |even |ever )*(?:know|remember|recall|tell|say|think|hear|heard|remind)\b/gi;
/** "Did you …?" asks no more than whether: the deed may be anybody's. */
const asksForDeeds =
  /\b(?:what|where|when|why|how|whom?|which)\b.{0,80}\b(?:do|did|have|had|are|were|can|could|will|would) you\b/i;

/** Whether a memory is what the one who asks once said; "I" in it may be either, and whose it is shows in who is asked about. */
const isTheirs = (text: string, asked: string): boolean => {
  if (ofSomebody.test(text)) return false;
  if (introduces.test(text) || ofListener.test(text)) return true;
  if (!ofOneself.test(withoutPits(text))) return false;
  const about = asked.replace(/\b(?:tell|remind|show|give|help|teach) me\b/gi, '');
  return ofOneself.test(about) || !asksForDeeds.test(about.replace(askingToKnow, ''));
};

/** A memory as the one who has it tells it. `theirWords`: it is what the other one said. */
export type ToldMemory = { readonly whole: string; readonly within: string | null; readonly theirWords: boolean };

const told = (text: string, theirWords: boolean): ToldMemory => {
  const said = sentence(text.trim());
  return { whole: upperFirst(said), within: withinSentence(said), theirWords };
};

/** Turns a memory to the view of the one who has it, to be told to the one who asks. */
export const tellMemory = (memory: string, asked: string, { name }: Self): ToldMemory => {
  const text = cutText(memory.trim(), TOLD_CHARS);
  const spoken = spokenIn(text);
  if (spoken !== null) return told(saidBack(spoken), true);
  const theirs = isTheirs(text, asked);
  const view = theirs ? saidBack(text) : text;
  const own = name === null ? null : (saidByItself(view, name) ?? firstNamed(view, name));
  return told(toPlayer(own ?? view), theirs);
};

/** The same for a text that uses the first of several names. */
const firstNamed = (text: string, name: string): string | null => {
  const [first = ''] = name.split(' ');
  return first === name || first.length < 3 ? null : saidByItself(text, first);
};
