import { wordsOf } from '../../../kernel/base/words.js';

/** Words that do not show the subject of a sentence. */
const EMPTY = new Set(
  `a about after again all also am an and any anything are as at be been before being but by can could did do does doing down else ever every few for from
  get give go going got had has have having he her here hers him his how i if in into is it its just know last let like many may me mine more most much
  must my need no nor not now of off on once one only or other our out over own please remember said same say see shall she should so some something such
  tell than that the their them then there these they thing things this those to too true under until up us very want was we well were what when where which
  while who whom whose why will with would yes yet you your yours heard ever happened there's what's who's don't didn't hear think`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** Groups of words that mean nearly the same; the first represents all. Stems as `stemOf` makes them. */
const ALIKE: readonly (readonly string[])[] = [
  ['steal', 'stole', 'stolen', 'thief', 'thieve', 'theft', 'rob', 'robber', 'took', 'taken', 'burglar'],
  ['jewel', 'jewelry', 'jewellery', 'necklace', 'ring', 'locket', 'ruby', 'gem', 'amulet', 'brooch'],
  ['sword', 'blade', 'weapon', 'dagger', 'knife', 'axe'],
  ['money', 'coin', 'gold', 'copper', 'silver', 'cash', 'pay', 'paid', 'price', 'cost', 'owe', 'debt'],
  ['room', 'bed', 'lodging', 'inn', 'tavern'],
  ['food', 'bread', 'stew', 'eat', 'ate', 'hungry', 'meal', 'supper', 'breakfast', 'dinner'],
  ['kill', 'die', 'died', 'dead', 'death', 'murder', 'slay', 'slain'],
  ['fight', 'fought', 'attack', 'battle', 'hit', 'struck', 'strike'],
  ['home', 'house', 'live', 'dwell'],
  ['leave', 'left', 'depart', 'gone', 'went'],
  ['come', 'came', 'arrive', 'return', 'back'],
  ['help', 'save', 'rescue', 'aid'],
  ['promise', 'swear', 'swore', 'oath', 'vow'],
  ['buy', 'bought', 'purchase'],
  ['sell', 'sold', 'sale', 'trade'],
  ['lose', 'lost', 'miss'],
  ['find', 'found'],
  ['hide', 'hid', 'hidden', 'bury', 'buri', 'conceal', 'stash'],
  ['name', 'call'],
  ['boat', 'ferry', 'ship'],
  ['road', 'path', 'way', 'bridge'],
  ['mother', 'father', 'parent', 'family', 'relative', 'sibling', 'sister', 'brother'],
  ['horse', 'mare', 'stallion', 'pony'],
  ['fear', 'afraid', 'scare'],
  ['love', 'fond'],
  ['friend', 'companion'],
  ['build', 'built'],
  ['meet', 'met'],
  ['gift', 'gave', 'given', 'brought', 'present'],
  ['break', 'broke', 'broken', 'smash'],
  ['fall', 'fell', 'fallen', 'collapse'],
  ['smith', 'blacksmith'],
  ['drink', 'drank', 'ale', 'wine', 'beer'],
];

const standsFor = new Map(ALIKE.flatMap(([first = '', ...others]) => others.map((word) => [word, first] as const)));

/** A word without the endings of English grammar, so that forms of one word match. */
const stemOf = (word: string): string => {
  if (word.length < 4) return word;
  return word
    .replace(/(?:'s|s')$/, '')
    .replace(/ies$/, 'y')
    .replace(/(?:(?<=[sxz]|[cs]h)es|(?<=[^su])s)$/, '')
    .replace(/(?<=\w{3})ing$/, '')
    .replace(/(?<=\w{2}[^e])ed$/, '')
    .replace(/(?<=\w{2})([bdgklmnprt])\1$/, '$1')
    .replace(/(?<=\w{3})e$/, '');
};

const stems = new Map([...standsFor].map(([word, first]) => [stemOf(word), stemOf(first)]));

/** The topics of a text: its content words, each by the stem that represents all with nearly the same meaning. */
export const topicsOf = (text: string): ReadonlySet<string> =>
  new Set(
    wordsOf(text.replaceAll('’', "'"))
      .filter((word) => word.length > 1 && !EMPTY.has(word))
      .map(stemOf)
      .map((stem) => stems.get(stem) ?? stem),
  );

const KIN =
  /^(?:mother|father|sister|brother|son|daughter|child|children|wife|husband|uncle|aunt|cousin|nephew|niece|grand(?:mother|father|son|daughter|child|children)|bride|groom)s?$/i;

/** Whether a word denotes one member of a family, and no other. */
export const isKin = (word: string): boolean => KIN.test(word);
