import { untilFirst } from '../../kernel/model-text/until-end.js';

function* placesOf(text: string, stop: readonly string[]): Generator<number> {
  const words = stop.map((word) => ({ word, at: text.indexOf(word) })).filter(({ at }) => at !== -1);
  while (words.length > 0) {
    const next = words.reduce((first, one) => (one.at < first.at ? one : first));
    yield next.at;
    next.at = text.indexOf(next.word, next.at + next.word.length);
    if (next.at === -1) words.splice(words.indexOf(next), 1);
  }
}

/**
 * A text up to the first of the stop strings, in complete characters. Not every model server ends its text there, and one that counts tokens may end
 * it inside a character. A stop string within a complete answer in JSON is a part of what it says.
 */
export const untilStop = (text: string, stop: readonly string[] = []): string =>
  untilFirst(
    text,
    placesOf(
      text,
      stop.filter((word) => word !== ''),
    ),
  ).toWellFormed();
