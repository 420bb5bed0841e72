import { sentence } from './own-view.js';
import type { Self } from './self.js';

const KIN =
  'mother|father|sister|brother|son|daughter|child|children|kid|wife|husband|spouse|uncle|aunt|cousin|nephew|niece|sibling|parent|family';
/** Words for some of a family, and whom they cover; any other word of kin covers only itself. */
const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:family|relatives?|kin|kinfolk)\b/i, KIN],
  [/\b(?:siblings?)\b/i, 'brother|sister'],
  [/\b(?:child|children|kids?)\b/i, 'son|daughter|child|children|kid'],
  [/\b(?:parents?)\b/i, 'mother|father|parent'],
  [/\b(?:spouse|married)\b/i, 'wife|husband|spouse'],
];
const asked = new RegExp(
  `(?:\\b(?:do you have|have you(?: got)?|you have|you've got)(?: (?:an?|any|some|no|other|older|elder|younger|little|living)){0,3} (?<kin>${KIN}|kin|relative)s?|\\bare you (?<married>married))\\b`,
  'i',
);

/** Which kin a question asks about, as a pattern; null if it asks about none. */
const kinAsked = (text: string): string | null => {
  const found = asked.exec(text)?.groups;
  const word = found?.['kin'] ?? found?.['married'];
  if (word === undefined) return null;
  const group = GROUPS.find(([words]) => words.test(word))?.[1];
  return group ?? word;
};

export const asksForKin = (text: string): boolean => kinAsked(text) !== null;

/** What the persona says about the kin in question; null if it says nothing. */
export const kinAnswer = (persona: string | null, { facts }: Self, text: string): string | null => {
  const kin = kinAsked(text);
  if (kin === null) return null;
  const ofOneself = new RegExp(`\\b(?:my|have|had|lost)\\b.{0,40}?\\b(?:${kin})s?\\b`, 'i');
  const fact = facts.find((one) => ofOneself.test(one));
  if (fact !== undefined) return fact;
  const named = new RegExp(
    `\\b(?:[Hh]is|[Hh]er|[Tt]heir|[Yy]our|[Mm]y|whose) (?<who>(?:[a-z]+ ){0,2}?(?:${kin})s?(?: \\p{Lu}[\\p{L}'-]+)?)(?![\\p{L}'’-])`,
    'u',
  );
  const who = named.exec(persona ?? '')?.groups?.['who'];
  return who === undefined
    ? null
    : sentence(`There ${/s$|children$/.test(/^[a-z ]+/.exec(who)?.[0].trim() ?? '') ? 'are' : 'is'} my ${who}`);
};
