import type { JsonObject } from '../../../kernel/base/json.js';
import { sha256Hex } from '../../../kernel/crypto/sha256.js';
import { saidLast } from './before.js';
import { factAnswer } from './facts.js';
import { hear, type Heard } from './hearing.js';
import { asksForKin, kinAnswer } from './kin.js';
import { lowerFirst, sentence, upperFirst } from './own-view.js';
import { type Occasion, phrasesFor } from './phrases.js';
import { fittingFact, fittingMemories, tellMemory, wasAsked } from './remember.js';
import { banAgainst, directedBy, isForbidden, ownReason, refusalAsked, tonesIn } from './rules.js';
import type { PromptContent } from './situation.js';
import { type Self, selfOf } from './self.js';
import { looksCrafted } from './statements.js';
import { carriedIn, listed, namedIn, subjectOf, wishedThing } from './things.js';

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
  phrase.replace(/\{M\}/g, () => whole).replace(/\{[mx]\}/g, () => within ?? whole);

/** The phrases into which the text can be inserted. */
const fittingPhrases = (list: readonly string[], { within }: Filling): readonly string[] => {
  const fitting = within === null ? list.filter((phrase) => !phrase.includes('{m}')) : list;
  return fitting.length === 0 ? list : fitting;
};

/** What may follow "who are you" without changing the question; "who are you waiting for" asks something else. */
const THAT_IS_ALL = String.raw`(?=\s*(?:[^\w\s]|$|(?:and|or|really|exactly|then|again|anyway|supposed|to|my|sir|friend|stranger)\b))`;
const WHO = new RegExp(
  String.raw`\b(?:who (?:are|might) you(?: be)?${THAT_IS_ALL}|what are you called\b|do you have a name\b|what(?:'s| is) your name\b|your name\b|tell me about yourself\b|introduce yourself\b|do i know you\b|whom do i\b|who am i (?:talking|speaking) to\b)`,
  'i',
);
const WORK = new RegExp(
  String.raw`\b(?:what do you do\b|what(?:'s| is) your (?:trade|work|job|profession|business|role|rank)\b|what are you${THAT_IS_ALL}|your (?:trade|profession|job)\b|for a living\b|what do you work\b)`,
  'i',
);
/** Asks what the NPC is doing or feels. */
const DOING = /\b(?:what|whom?) are you\b(?! (?:talking|saying)\b)/i;
const FARING =
  /\b(?:how (?:are|fare|do) you(?: (?:feel|fare|do|doing|today))?(?=\s*[?,.!]|$)|how(?:'s| is) it going|are you (?:well|all right|alright|hurt|okay|ok)|how do you feel|you look (?:tired|hurt|pale|sad))\b/i;
const CARRYING =
  /\b(?:what (?:do you|have you|can you|are you) (?:got|sell|selling|have|carry|carrying|offer)|your (?:wares|goods|stock|inventory)|for sale|show me (?:what you|your))\b/i;

const introduction = ({ self: { name, trade, about }, say }: Speaker): string => {
  const told =
    trade !== null && name?.toLowerCase().includes(trade.replace(/^(?:an?|the) /, '').toLowerCase()) === true
      ? null
      : trade;
  if (name === null) return trade === null ? say('stranger') : sentence(`I am ${trade}`);
  if (about?.startsWith(`I am ${name}`) === true) return about;
  if (about !== null && !/^I am (?:an?|the)\b/.test(about)) return `I am ${name}. ${about}`;
  return sentence(told === null ? `I am ${name}` : `I am ${name}, ${told}`);
};

const work = (speaker: Speaker): string => {
  const { trade, about } = speaker.self;
  if (about !== null) return about;
  return trade === null ? introduction(speaker) : sentence(`I am ${trade}`);
};

const LOW_HP = 5;
const faring = ({ situation: { state }, say }: Speaker): string => {
  const { mood, hp } = state;
  if (typeof hp === 'number' && hp <= LOW_HP) return say('hurt');
  return typeof mood === 'string' && /^[a-z ]{3,20}$/.test(mood) && !/neutral|calm/.test(mood)
    ? `A little ${mood}, if you ask. And you?`
    : say('faring');
};

const carrying = ({ situation: { state }, say }: Speaker): string | null => {
  const carried = carriedIn(state);
  if (carried === null) return null;
  const list = sentence(listed(carried));
  return carried.length === 0 ? say('carryingNothing') : say('carrying', { whole: upperFirst(list), within: list });
};

/** An answer from the matching memories, or null. */
const remembered = ({ situation, self, heard, say }: Speaker): string | null => {
  const fitting = fittingMemories(situation, heard.text, self);
  const [best, second] = (fitting?.texts ?? []).map((text) => tellMemory(text, heard.text, self));
  const fact = fitting?.isSure === true ? null : fittingFact(self, heard.text);
  if (fact !== null) return fact;
  if (best === undefined) return null;
  if (fitting?.isSure !== true) return say('closest', best);
  if (best.theirWords) return say(best.within === null ? 'toldMeWhole' : 'toldMe', best);
  const first = say('recalled', best);
  if (second === undefined || second.theirWords) return first;
  return `${first} ${second.within === null ? second.whole : `And ${second.within}`}`;
};

/** The answer to a request for a thing: whether it is available, and its price. */
const toWish = ({ situation, heard, say }: Speaker): string => {
  const wished = wishedThing(heard.text);
  const carried = carriedIn(situation.state);
  const held = carried === null ? null : namedIn(carried, heard.text);
  if (held !== null) return say('hasThing', { whole: upperFirst(`the ${held}`), within: `the ${held}` });
  if (wished === null) return say('wanted');
  return say(carried === null ? 'wantedThing' : 'hasNot', thing(wished));
};

const possession = /\b(?:do you have|have you got|got any|have you (?:any|an?)|is there any)\b/i;

/** What the persona says of a thing that the NPC may have but does not carry. */
const ownFact = ({ situation: { state }, self, heard: { text } }: Speaker): string | null =>
  namedIn(carriedIn(state) ?? [], text) === null ? fittingFact(self, text) : null;

const toQuestion = (speaker: Speaker): string => {
  const { situation, self, heard, say } = speaker;
  const { text } = heard;
  if (WHO.test(text)) return introduction(speaker);
  if (WORK.test(text)) return work(speaker);
  if (FARING.test(text)) return faring(speaker);
  if (asksForKin(text)) return kinAnswer(situation.persona, self, text) ?? say('ownAffair');
  const wares = CARRYING.test(text) ? carrying(speaker) : null;
  const known =
    wares ?? factAnswer(situation, text) ?? (possession.test(text) ? ownFact(speaker) : remembered(speaker));
  if (known !== null) return known;
  if (heard.wants || possession.test(text)) return toWish(speaker);
  if (wasAsked(situation.memories, text)) return say('askedAgain');
  if (DOING.test(text) && !CARRYING.test(text)) return say('ownAffair');
  const subject = looksCrafted(text) ? null : (subjectOf(text) ?? wishedThing(text));
  return subject === null ? say('unknown') : say('unknownThing', thing(subject));
};

/** The answer to a statement, which is only acknowledged. Memories are told only in answer to questions. */
const toStatement = ({ heard, say }: Speaker): string => {
  if (heard.told) return say('seen');
  const subject = subjectOf(heard.text);
  return subject === null ? say('heard') : say('heardThing', thing(subject));
};

/** The answers to a greeting, thanks or another courtesy. */
const courtesies = ({ heard, say }: Speaker): readonly string[] => [
  ...(heard.greets ? [say('greeting')] : []),
  ...(heard.thanks ? [say('thanked')] : []),
  ...(heard.apologises ? [say('forgiven')] : []),
  ...(heard.praises ? [say('praised')] : []),
];

/** The maximum number of words in a part of a text that consists only of courtesies. */
const COURTESY_WORDS = 7;

const isCourtesyAlone = ({ heard: { text, asks, wants } }: Speaker): boolean =>
  !asks &&
  !wants &&
  text.split(/[.!,]+/).filter((part) => part.trim().split(/\s+/).length > COURTESY_WORDS).length === 0;

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
    const gift = subjectOf(heard.text);
    return gift === null ? say('given') : say('givenThing', thing(gift));
  }
  if (heard.offers && !heard.asks) return say('offered');
  if (!heard.asks && looksCrafted(heard.text)) return say('puzzled');
  const polite = courtesies(speaker);
  if (heard.leaves && !heard.asks)
    return [...polite.filter((one) => !heard.greets || one !== polite[0]), say('farewell')].join(' ');
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
  const pick = picking(prompt);
  const say: Speaker['say'] = (occasion, filling = { whole: '', within: '' }) =>
    filled(pick(occasion, fittingPhrases(phrasesFor(occasion, self.register), filling)), filling);
  const speaker: Speaker = { situation, self, heard: hear(situation.observation), say };
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
