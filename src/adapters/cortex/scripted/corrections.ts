import { topicsOf } from './words.js';

/** What a sentence takes back: "My name is not Kestrel, it is Rowan." */
type Correction = { readonly subject: string; readonly verb: string; readonly old: string; readonly now: string };

const NOW_LAST =
  /^(?:no, |actually,? |sorry, )?(?<subject>[^,.;]{1,80}?) (?<verb>is|are|am|was|were)(?: not|n't) (?<old>[^,.;]{1,80}?)(?:[,;]? but|[,;.]? (?:it|he|she|that)(?: is|'s| was)) (?<now>[^,.;]{1,80})\.?$/i;
const NOW_FIRST =
  /^(?:no, |actually,? |sorry, )?(?<subject>[^,.;]{1,80}?) (?<verb>is|are|am|was|were) (?<now>[^,.;]{1,80}), (?:and )?not (?<old>[^,.;]{1,80})\.?$/i;

const correctionIn = (text: string): Correction | null => {
  const plain = text.replaceAll('’', "'");
  const { subject, verb, old, now } = (NOW_LAST.exec(plain) ?? NOW_FIRST.exec(plain))?.groups ?? {};
  return subject === undefined || verb === undefined || old === undefined || now === undefined
    ? null
    : { subject, verb, old, now };
};

/** Whether a text still says what a correction takes back. */
const isTakenBack = (text: string, { subject, old }: Correction): boolean => {
  const topics = topicsOf(text);
  const gone = [...topicsOf(old)];
  return (
    gone.length > 0 &&
    gone.every((topic) => topics.has(topic)) &&
    [...topicsOf(subject)].some((topic) => topics.has(topic))
  );
};

/** Memories as corrections among them leave them. Prompts do not say which memory is newer, but who corrects speaks after what he corrects. */
export const corrected = <T extends { readonly text: string }>(memories: readonly T[]): readonly T[] => {
  const read = memories.map((memory) => ({ memory, correction: correctionIn(memory.text) }));
  const corrections = read.flatMap(({ correction }) => correction ?? []);
  return read.flatMap(({ memory, correction }) => {
    if (correction !== null)
      return [{ ...memory, text: `${correction.subject} ${correction.verb} ${correction.now}.` }];
    return corrections.some((one) => isTakenBack(memory.text, one)) ? [] : [memory];
  });
};
