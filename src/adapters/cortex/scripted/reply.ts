import type { JsonObject } from '../../../kernel/base/json.js';
import { sha256Hex } from '../../../kernel/crypto/sha256.js';
import { saidLast } from './before.js';
import { factAnswer } from './facts.js';
import { hear, type Heard } from './hearing.js';
import { languageOf } from './language.js';
import { lowerFirst, sentence, upperFirst } from './own-view.js';
import { type Occasion, phrasesFor } from './phrases.js';
import { fittingFact, fittingMemories, isAboutListener, isOfSpeaker, tellMemory, wasAsked } from './remember.js';
import { banAgainst, directedBy, isForbidden, ownReason, refusalAsked, tonesIn } from './rules.js';
import type { PromptContent } from './situation.js';
import { type Self, selfOf } from './self.js';
import { looksCrafted } from './statements.js';
import { carriedIn, givenThing, listed, namedIn, wishedThing, withArticle } from './things.js';
import { asksForKin } from './words.js';

/** The answer of the scripted engine, in the form that prompts request. */
export type ScriptedReply = {
  readonly dialogue: string;
  readonly action: { readonly type: string; readonly target: string };
  readonly stateDelta: JsonObject;
};

/** The text inserted into a phrase: at the beginning of a sentence and within one; null if it cannot be used within one. */
type Filling = { readonly whole: string; readonly within: string | null };

type Speaker = {
  readonly situation: PromptContent;
  readonly self: Self;
  readonly heard: Heard;
  /** One of the phrases for the occasion: the same for the same prompt. */
  readonly say: (occasion: Occasion, filling?: Filling) => string;
};

/** Picks by the prompt's digest: varied, but the same for the same prompt. */
const picking = (prompt: string) => {
  const digest = sha256Hex(prompt);
  return (salt: string, list: readonly string[]): string =>
    list[Number.parseInt(sha256Hex(`${salt} ${digest}`).slice(0, 8), 16) % list.length] ?? '';
};

const thing = (name: string): Filling => ({ whole: upperFirst(name), within: name });

/** A phrase with its inserted text; `$` in a memory has no special meaning here. */
const filled = (phrase: string, { whole, within }: Filling): string =>
  phrase.replace(/\{M\}/g, () => whole).replace(/\{m\}/g, () => within ?? whole);

/** The phrases into which the text can be inserted. */
const fittingPhrases = (list: readonly string[], { within }: Filling): readonly string[] => {
  const fitting = within === null ? list.filter((phrase) => !phrase.includes('{m}')) : list;
  return fitting.length === 0 ? list : fitting;
};

/** What may follow "who are you" without changing the question; "who are you waiting for" asks something else. */
const THAT_IS_ALL = String.raw`(?=\s*(?:[^\w\s]|$|(?:and|or|really|exactly|then|again|anyway|supposed|to|my|sir|friend|stranger)\b))`;
const WHO = new RegExp(
  String.raw`\b(?:who (?:are|might) you(?: be)?${THAT_IS_ALL}|what are you called\b|do you have a name\b|what(?:'s| is) your name\b|your name\b|tell me about yourself\b|introduce yourself\b|do i know you\b|whom do i\b|who am i (?:talking|speaking) to\b|wer (?:bist du|seid ihr|sind sie)(?=\s*(?:[^\w\s]|$|(?:denn|eigentlich|und)\b))|wie heißt du\b|dein name\b|stell dich vor\b)`,
  'i',
);
const WORK = new RegExp(
  String.raw`\b(?:what do you do\b|what(?:'s| is) your (?:trade|work|job|profession|business|role|rank)\b|what are you${THAT_IS_ALL}|your (?:trade|profession|job)\b|for a living\b|what do you work\b|was (?:machst|tust|arbeitest|bist) du(?=\s*(?:[^\w\s]|$|(?:hier|so|denn|beruflich)\b))|dein (?:beruf|handwerk)\b|deine arbeit\b)`,
  'i',
);
/** Asks what the NPC is doing or feels. */
const DOING = /\b(?:what|whom?) are you\b(?! (?:talking|saying)\b)/i;
const FARING =
  /\b(?:how (?:are|fare|do) you(?: (?:feel|fare|do|doing|today))?(?=\s*[?,.!]|$)|how(?:'s| is) it going|are you (?:well|all right|alright|hurt|okay|ok)|how do you feel|you look (?:tired|hurt|pale|sad)|wie geht(?:'s| es)? ?(?:dir|euch|ihnen)?(?=\s*(?:[^\w\s]|$|heute\b)))/i;
const CARRYING =
  /\b(?:what (?:do you|have you|can you|are you) (?:got|sell|selling|have|carry|carrying|offer)|your (?:wares|goods|stock|inventory)|for sale|show me (?:what you|your)|was (?:verkaufst|hast|führst|trägst) du|deine waren)\b/i;
const POSSESSION =
  /\b(?:do you have|have you got|got any|have you (?:any|an?)|is there any|hast du (?:eine?n?|kein))\b/i;
/** Asks for what only an answer can give. */
const ASKS_WHAT =
  /\b(?:who|whom|whose|what|where|when|why|how|which|wer|wen|wem|was|wo|wohin|wann|warum|wie|welche\w*)\b/i;
/** How much of "Do you have …?" a sentence of the persona must have to be the answer. */
const POSSESSED = 0.5;

const introduction = ({ self: { name, trade, about, facts }, heard: { language }, say }: Speaker): string => {
  if (name === null) return trade === null ? say('stranger') : sentence(`I am ${trade}`);
  const described = facts.find(({ text, isOwn }) => !isOwn && text.startsWith(name))?.text;
  if (language === 'de' && described !== undefined) return sentence(`Ich bin ${described.replace(`${name} ist `, '')}`);
  if (language === 'de') return [sentence(`Ich bin ${name}`), ...(about === null ? [] : [about])].join(' ');
  const isTitle = trade !== null && name.toLowerCase().includes(trade.replace(/^(?:an?|the) /, '').toLowerCase());
  if (about?.startsWith(`I am ${name}`) === true) return about;
  if (about !== null && !/^I am (?:an?|the)\b/.test(about)) return `I am ${name}. ${about}`;
  return sentence(trade === null || isTitle ? `I am ${name}` : `I am ${name}, ${trade}`);
};

const work = (speaker: Speaker): string => {
  const { trade, about } = speaker.self;
  if (about !== null) return about;
  return trade === null ? introduction(speaker) : sentence(`I am ${trade}`);
};

const LOW_HP = 5;
const faring = ({ situation: { state }, heard: { language }, say }: Speaker): string => {
  const { mood, hp } = state;
  if (typeof hp === 'number' && hp <= LOW_HP) return say('hurt');
  return language === 'en' && typeof mood === 'string' && /^[a-z ]{3,20}$/.test(mood) && !/neutral|calm/.test(mood)
    ? `A little ${mood}, if you ask. And you?`
    : say('faring');
};

const carrying = ({ situation: { state }, heard: { language }, say }: Speaker): string | null => {
  const carried = carriedIn(state);
  if (carried === null) return null;
  const list = sentence(listed(language === 'en' ? carried.map(withArticle) : carried, language));
  return carried.length === 0 ? say('carryingNothing') : say('carrying', { whole: upperFirst(list), within: list });
};

/** What the persona says in answer; null if it says nothing. */
const fromPersona = ({ self, heard: { text }, say }: Speaker, share?: number): string | null => {
  const fact = fittingFact(self, text, share);
  if (fact === null) return null;
  return fact.isOwn ? fact.text : say('quotedSelf', { whole: fact.text, within: fact.text });
};

/** An answer from the matching memories, or null. @param surely only one that is certain */
const fromMemories = ({ situation, self, heard, say }: Speaker, asked: string, surely: boolean): string | null => {
  const fitting = fittingMemories(situation, asked, self);
  if (fitting === null || fitting.isSure !== surely) return null;
  const [best, second] = fitting.found.map((memory) => tellMemory(memory, asked, self));
  if (best === undefined) return null;
  const [first] = fitting.found;
  if (!fitting.isSure) return say('closest', best);
  if (best.isQuote === true) {
    if (first?.isNews === true && heard.language === 'de' && languageOf(best.whole) === 'de')
      return sentence(say('toldMeWhole', best));
    return say(best.theirWords ? 'heardBefore' : 'quotedMemory', best);
  }
  if (best.theirWords) return say(best.within === null ? 'toldMeWhole' : 'toldMe', best);
  const told = say('recalled', best);
  if (second === undefined || second.theirWords || second.isQuote === true) return told;
  return `${told} ${second.within === null ? second.whole : `And ${second.within}`}`;
};

/** The answer to a request for a thing: whether it is available, and its price. */
const toWish = ({ situation, heard: { text, language }, say }: Speaker): string => {
  const wished = wishedThing(text, language);
  const carried = carriedIn(situation.state);
  const held = carried === null ? null : namedIn(carried, text);
  if (held !== null) return say('hasThing', { whole: upperFirst(`the ${held}`), within: `the ${held}` });
  if (wished === null) return say('wanted');
  return say(carried === null ? 'wantedThing' : 'hasNot', thing(wished));
};

/** The answer to "Did you know that …?". */
const toNews = (speaker: Speaker, news: string): string => fromMemories(speaker, news, true) ?? speaker.say('news');

const toQuestion = (speaker: Speaker): string => {
  const { situation, heard, say } = speaker;
  const { text, wants, news } = heard;
  if (WHO.test(text)) return introduction(speaker);
  if (WORK.test(text)) return work(speaker);
  if (FARING.test(text)) return faring(speaker);
  if (news !== null) return toNews(speaker, news);
  const wares = CARRYING.test(text) ? carrying(speaker) : null;
  if (wares !== null) return wares;
  const isPossession = POSSESSION.test(text);
  const isOwn = isAboutListener(text);
  const isCarried = isPossession && namedIn(carriedIn(situation.state) ?? [], text) !== null;
  const own = isOwn && !isCarried ? fromPersona(speaker, isPossession ? POSSESSED : undefined) : null;
  if (own !== null) return own;
  if (wants && !ASKS_WHAT.test(text)) return toWish(speaker);
  const known =
    factAnswer(situation, heard) ??
    (isPossession && isOwn ? null : fromMemories(speaker, text, true)) ??
    (isOfSpeaker(text) ? null : fromPersona(speaker)) ??
    (isPossession ? null : fromMemories(speaker, text, false));
  if (known !== null) return known;
  if (isOwn && asksForKin(text)) return say('ownAffair');
  if (wants || isPossession) return toWish(speaker);
  if (wasAsked(situation.memories, text)) return say('askedAgain');
  return say(DOING.test(text) && !CARRYING.test(text) ? 'ownAffair' : 'unknown');
};

/** The answer to a statement, which is only acknowledged. Memories are told only in answer to questions. */
const toStatement = ({ heard, say }: Speaker): string => {
  if (heard.told) return say('seen');
  const hello = heard.name === null ? null : say('named', thing(heard.name));
  const answer = heard.mourns ? say('sorry') : hello === null ? say('heard') : null;
  return [hello, answer].filter((one) => one !== null).join(' ');
};

/** The answer to a greeting, thanks or another courtesy: to the first of them. */
const courtesies = ({ heard, say }: Speaker): readonly string[] =>
  [
    ...(heard.greets ? [say('greeting')] : []),
    ...(heard.thanks ? [say('thanked')] : []),
    ...(heard.apologises ? [say('forgiven')] : []),
    ...(heard.praises ? [say('praised')] : []),
  ].slice(0, 1);

/** The maximum number of words in a part of a text that consists only of courtesies. */
const COURTESY_WORDS = 7;

const isCourtesyAlone = ({ heard: { text, asks, wants, name } }: Speaker): boolean =>
  !asks &&
  !wants &&
  name === null &&
  text.split(/[.!,]+/).every((part) => part.trim().split(/\s+/).length <= COURTESY_WORDS);

const spoken = (speaker: Speaker): string => {
  const { situation, self, heard, say } = speaker;
  if (heard.text === '') return say('silence');
  const ban = banAgainst(situation, heard);
  const refusal = ban ?? (heard.asks || heard.wants ? refusalAsked(situation) : null);
  if (refusal !== null) {
    if (refusal.because === null) return say('refusedPlainly');
    const reason = ownReason(refusal.because, self);
    return say('refused', { whole: reason, within: lowerFirst(reason) });
  }
  if (heard.threatens) return say('threatened');
  if (heard.insults) return say('insulted');
  if (heard.gives) {
    const gift = givenThing(heard.text);
    return gift === null ? say('given') : say('givenThing', thing(gift));
  }
  if (heard.offers && !heard.asks) return say('offered');
  if (!heard.asks && looksCrafted(heard.text)) return say('puzzled');
  const polite = courtesies(speaker);
  if (heard.leaves && !heard.asks) return [...(heard.greets ? [] : polite), say('farewell')].join(' ');
  if (polite.length > 0 && isCourtesyAlone(speaker)) return polite.join(' ');
  const last = saidLast(situation, heard.text);
  if (last !== null) return say(last.occasion, { whole: last.words, within: last.words });
  const answer = heard.asks ? toQuestion(speaker) : heard.wants ? toWish(speaker) : toStatement(speaker);
  return [...polite, answer].join(' ');
};

/** The new mood after the event, if the state names one. */
const moodAfter = ({ situation: { state }, heard }: Speaker): JsonObject => {
  const mood = heard.threatens || heard.insults ? 'suspicious' : heard.gives || heard.thanks ? 'friendly' : null;
  return typeof state['mood'] !== 'string' || mood === null || state['mood'] === mood ? {} : { mood };
};

const FIGHTING = /^(?:ATTACK|FIGHT|STRIKE|SHOOT)$/;
/** The actions of an NPC that may not speak; the first that is allowed is used. */
const SILENT = ['IDLE', 'WAIT', 'LISTEN'] as const;

/** Answers a situation: follows directed actions, avoids forbidden ones, and picks a suitable phrase. The same prompt gets the same answer. */
export const scriptedReply = (situation: PromptContent, prompt: string): ScriptedReply => {
  const self = selfOf(situation.persona, situation.state, tonesIn(situation));
  const heard = hear(situation.observation);
  const pick = picking(prompt);
  const say: Speaker['say'] = (occasion, filling = { whole: '', within: '' }) =>
    filled(pick(occasion, fittingPhrases(phrasesFor(occasion, self.register, heard.language), filling)), filling);
  const speaker: Speaker = { situation, self, heard, say };
  const directed = directedBy(situation);
  if (directed !== null && !isForbidden(situation, directed.type)) {
    const action = { type: directed.type, target: directed.target ?? '' };
    if (directed.type === 'SPEAK') return { dialogue: spoken(speaker), action, stateDelta: {} };
    const reason =
      directed.because === null
        ? say(FIGHTING.test(directed.type) ? 'fighting' : 'acting')
        : ownReason(directed.because, self);
    return { dialogue: reason, action, stateDelta: {} };
  }
  if (isForbidden(situation, 'SPEAK')) {
    const type = SILENT.find((one) => !isForbidden(situation, one)) ?? SILENT[0];
    return { dialogue: '', action: { type, target: '' }, stateDelta: {} };
  }
  return { dialogue: spoken(speaker), action: { type: 'SPEAK', target: '' }, stateDelta: moodAfter(speaker) };
};
