import type { Json } from '../../../kernel/base/json.js';
import type { Heard } from './hearing.js';
import type { Language } from './language.js';
import { sentence, upperFirst } from './own-view.js';
import type { PromptContent } from './situation.js';
import { listed, thingNamesIn } from './things.js';

const first = (object: PromptContent['around'], names: readonly string[]): Json | undefined =>
  names.map((name) => object[name]).find((value) => value !== undefined && value !== null && value !== '');

type Answer = (situation: PromptContent, language: Language) => string | null;

const PLACES = ['place', 'location', 'room', 'area', 'scene', 'zone'];
const PEOPLE = ['people', 'nearby', 'present', 'characters', 'others', 'entities'];

const placeAnswer: Answer = ({ around, state }, language) => {
  const place = first(around, PLACES) ?? first(state, PLACES);
  if (typeof place === 'string' && language !== 'en') return sentence(upperFirst(place));
  return typeof place === 'string'
    ? `${/^(?:the|an?|in|at|on) /i.test(place) ? upperFirst(place) : `This is the ${place}`}, as you can see.`
    : null;
};

const dayPart = (hour: number): string => {
  if (hour < 5) return 'at night';
  if (hour < 12) return 'in the morning';
  return hour < 18 ? 'in the afternoon' : 'in the evening';
};

const timeAnswer: Answer = ({ around }, language) => {
  const hour = first(around, ['hour']);
  if (typeof hour === 'number' && language === 'de') return `Es ist ${String(Math.floor(hour))} Uhr.`;
  if (typeof hour === 'number') return `It is ${String(Math.floor(hour) % 12 || 12)} o'clock ${dayPart(hour)}.`;
  const time = first(around, ['time', 'timeOfDay', 'daytime']);
  return typeof time === 'string' ? (language === 'de' ? `Es ist ${time}.` : `It is ${time}.`) : null;
};

const peopleAnswer: Answer = ({ around }, language) => {
  const names = thingNamesIn(first(around, PEOPLE));
  if (names.length === 0) return null;
  return language === 'de' ? `Hier sind: ${names.join(', ')}.` : `I see ${listed(names)}.`;
};

const weatherAnswer: Answer = ({ around }, language) => {
  const weather = first(around, ['weather']);
  if (typeof weather === 'string' && language !== 'en') return sentence(upperFirst(weather));
  return typeof weather === 'string' ? sentence(`${upperFirst(weather)}, as anyone with a window can tell`) : null;
};

const QUESTIONS: readonly (readonly [RegExp, Answer])[] = [
  [
    /\b(?:where (?:are we|am i|is this)|what (?:place|room|town) is this|what is this place|wo sind wir|wo bin ich)\b/i,
    placeAnswer,
  ],
  [/\b(?:what time|what hour|how late|is it late|wie spät|wie viel uhr)\b/i, timeAnswer],
  [
    /\b(?:who else|who is here|who's here|anyone (?:else )?here|who is (?:around|under this roof)|wer ist (?:noch )?hier)\b/i,
    peopleAnswer,
  ],
  [/\b(?:weather|raining|is it cold|wetter|regnet)\b/i, weatherAnswer],
];

/** Words of a state's key: `maxHp`, `coins_left`. */
const keyWords = (key: string): string =>
  key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
/** The words of a text without the "s" of plurals. */
const singulars = (text: string): readonly string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? ['?']).map((word) => word.replace(/(?<=\w{2})s$/, ''));
/** These have separate answers. */
const OTHERWISE = new Set(['name', 'inventory', 'items', 'wares', 'stock', 'mood', 'trade', 'memory']);

/** A plain value of the NPC's own state that is asked about ("How many coins do you have?"); null if none is. */
const stateAnswer = ({ state }: PromptContent, text: string): string | null => {
  if (!/\b(?:you|your)\b/i.test(text)) return null;
  const said = new Set(singulars(text));
  for (const [key, value] of Object.entries(state)) {
    if (OTHERWISE.has(key) || (typeof value !== 'number' && typeof value !== 'string')) continue;
    const words = keyWords(key);
    if (!singulars(words).every((word) => said.has(word))) continue;
    if (typeof value === 'number') return `${upperFirst(words)}? ${String(value)}, by my count.`;
    return `My ${words}? ${sentence(upperFirst(value))}`;
  }
  return null;
};

/** Answers a question about the surroundings or about oneself; null for every other question. */
export const factAnswer = (
  situation: PromptContent,
  { text, language }: Pick<Heard, 'text' | 'language'>,
): string | null => {
  for (const [pattern, answer] of QUESTIONS) {
    const said = pattern.test(text) ? answer(situation, language) : null;
    if (said !== null) return said;
  }
  return stateAnswer(situation, text);
};
