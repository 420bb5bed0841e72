import { upperFirst } from './own-view.js';
import { topicsOf } from './words.js';

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
export const corrected = <T extends { readonly text: string }>(memories: readonly T[]): readonly T[] => {
  const read = memories.map((memory) => ({ memory, correction: correctionIn(memory.text) }));
  const corrections = read.flatMap(({ correction }) => correction ?? []);
  return read.flatMap(({ memory, correction }) => {
    if (correction !== null) return [{ ...memory, text: correction.now }];
    return corrections.some((one) => isTakenBack(memory.text, one)) ? [] : [memory];
  });
};
