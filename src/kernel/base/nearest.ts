import { areSlips, type Bare, bareOf, LONGEST_NAME } from './alike.js';
import { slipsBetween } from './slips.js';

/** A name may have one wrong letter in this many. */
const CHARS_PER_SLIP = 3;

const wordsOf = (name: string): readonly string[] => name.toLowerCase().split(/[^a-z0-9]+/);

/** Whether one name has all words of the other: `SELL_ITEM` and `SELL`. */
const sharesWords = (one: string, other: string): boolean => {
  const [few = [], many = []] = [wordsOf(one), wordsOf(other)].sort((left, right) => left.length - right.length);
  return few.every((word) => many.includes(word));
};

const bareNames = (known: readonly string[]): readonly (readonly [string, Bare])[] =>
  known.filter((name) => name.length <= LONGEST_NAME).map((name) => [name, bareOf(name)]);

const nearestOf = (written: string, known: ReturnType<typeof bareNames>): string | undefined => {
  if (written.length > LONGEST_NAME) return undefined;
  const bare = bareOf(written);
  if (bare.text === '') return undefined;
  const compared = known.map(([name, other]) => {
    const most = Math.floor(Math.min(bare.text.length, other.text.length) / CHARS_PER_SLIP);
    const slips = slipsBetween(bare.text, other.text);
    return { name, slips, isNear: slips <= most || areSlips(bare, other) };
  });
  const [nearest] = compared.filter(({ isNear }) => isNear).sort((left, right) => left.slips - right.slips);
  return nearest?.name ?? compared.find(({ name }) => sharesWords(written, name))?.name;
};

/**
 * The name that was probably meant: the one with the fewest different letters, whatever their case and separators, otherwise the first that has all
 * words of it, or the other way round. Undefined if none resembles it.
 */
export const nearestName = (written: string, known: readonly string[]): string | undefined =>
  nearestOf(written, bareNames(known));

/** `nearestName` for many names. @param most how many different names are compared with the known ones; the others resemble none */
export const nearestAmong = (known: readonly string[], most: number): ((written: string) => string | undefined) => {
  const ready = bareNames(known);
  const found = new Map<string, string | undefined>();
  return (written) => {
    if (!found.has(written) && found.size < most) found.set(written, nearestOf(written, ready));
    return found.get(written);
  };
};
