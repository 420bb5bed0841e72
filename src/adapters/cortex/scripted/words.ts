import { wordsOf } from '../../../kernel/base/words.js';
import { type Language, languageOf } from './language.js';

/** Words that do not show the subject of a sentence. */
const EMPTY = new Set(
  `a anybody anyone somebody someone nobody about after again all also am an and any anything are as at be been before being but by can could did do does doing down else ever every few for from
  get give go going got had has have having he her here hers him his how i if in into is it its just know last let like many may me mine more most much
  must my need no nor not now of off on once one only or other our out over own please remember said same say see shall she should so some something such
  tell than that the their them then there these they thing things this those to too true under until up us very want was we well were what when where which
  while who whom whose why will with would yes yet you your yours heard ever happened there's what's who's don't didn't hear think`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

const EMPTY_GERMAN = new Set(
  wordsOf(
    `aber als alle also am an auch auf aus bei bin bist bitte da das dass dein deine deinem deinen dem den denn der des dich die dir doch du ein eine einem einen
  einer er es etwas euch für gab gerade eben gibt gern habe haben habt hast hat hatte hier ich ihm ihn ihr ihre im in ist ja kann kannst kein keine mal man mein
  meine meinem meinen meiner mich mir mit nach nein nicht noch nur ob oder schon sehr sein seine sich sie sind so über um und uns unter vom von vor wann war
  waren warum was wegen welche wem wen wenn wer werde wie will willst wir wird wo woher wohin wurde wurden zu zum zur hältst denkst weißt wusstest heute passiert
  geschehen`,
  ),
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
  // Which of them it is, `covers` tells.
  [
    ...['family', 'mother', 'father', 'parent', 'relative', 'kin', 'sibling', 'sister', 'brother', 'son', 'daughter'],
    ...[
      'child',
      'children',
      'kid',
      'wife',
      'husband',
      'spouse',
      'married',
      'uncle',
      'aunt',
      'cousin',
      'nephew',
      'niece',
    ],
  ],
  ['horse', 'mare', 'stallion', 'pony'],
  ['fear', 'afraid', 'scare'],
  ['love', 'fond', 'adore', 'cherish'],
  ['hate', 'dislike', 'loathe', 'despise'],
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
    .replace(/(?<=l)ves$/, 'f')
    .replace(/(?:(?<=[sxz]|[cs]h)es|(?<=[^su])s)$/, '')
    .replace(/(?<=\w{3})ing$/, '')
    .replace(/(?<=\w{2}[^e])ed$/, '')
    .replace(/(?<=\w{2})([bdgklmnprt])\1$/, '$1')
    .replace(/(?<=\w{3})e$/, '');
};

const stems = new Map([...standsFor].map(([word, first]) => [stemOf(word), stemOf(first)]));

/** The same for German, without umlauts. */
const germanStemOf = (word: string): string => {
  const plain = word.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss');
  return plain.length < 4 ? plain : plain.replace(/(?:est|en|em|er|es|et|st|e|n|s|t)$/, '');
};

/** German words, and the English ones that a persona in English may have instead. */
const TRANSLATED = new Map(
  `wolf wolf,angst fear,fürchten fear,herzog duke,könig king,schwert sword,messer sword,zimmer room,bett room,trank potion,heiltrank potion,preis money,
  kosten money,münze money,geld money,gold money,bruder brother,schwester sister,mutter mother,vater father,tochter daughter,sohn son,hund dog,pferd horse,
  schmied smith,reparieren repair,lieben love,hassen hate,mühle mill,brücke road,meer sea,schlüssel key,haus home,wohnen home,verkaufen sell,kaufen buy`
    .split(/,\s*/)
    .map((pair) => {
      const [german = '', english = ''] = pair.split(' ');
      return [germanStemOf(german), english] as const;
    }),
);

/**
 * The topics of a text: its content words, each by the stem that represents all with nearly the same meaning.
 * @param language the language of the text, if it is part of a longer one
 */
export const topicsOf = (text: string, language: Language = languageOf(text)): ReadonlySet<string> => {
  const isGerman = language === 'de';
  return new Set(
    wordsOf(text.replaceAll('’', "'"))
      .filter((word) => word.length > 1 && !(isGerman ? EMPTY_GERMAN : EMPTY).has(word))
      .map((word) => {
        if (!isGerman) return stemOf(word);
        const stem = germanStemOf(word);
        return stemOf(TRANSLATED.get(stem) ?? stem);
      })
      .map((stem) => stems.get(stem) ?? stem),
  );
};

/** Words for some of a family, and whom they cover; any other word of kin covers only itself. */
const COVERS: Readonly<Record<string, RegExp>> = {
  family: /./,
  relative: /./,
  kin: /./,
  sibling: /^(?:brother|sister)/,
  child: /^(?:son|daughter|child|kid)/,
  children: /^(?:son|daughter|child|kid)/,
  kid: /^(?:son|daughter|child|kid)/,
  parent: /^(?:mother|father)/,
  spouse: /^(?:wife|husband)/,
  married: /^(?:wife|husband|spouse)/,
};
const KIN =
  /^(?:family|mother|father|parent|relative|kin|sibling|sister|brother|son|daughter|child|children|kid|wife|husband|spouse|married|uncle|aunt|cousin|nephew|niece|grand(?:mother|father|son|daughter|child|children)|bride|groom)s?$/i;

/** Whether a word denotes a member of a family, or some of them. */
export const isKin = (word: string): boolean => KIN.test(word);

/** Whether a word of a text is among those whom a word of kin means. */
export const covers = (kin: string, word: string): boolean => {
  const [one, other] = [kin, word].map((each) => each.toLowerCase().replace(/(?<=\w{2})s$/, ''));
  return one === other || (isKin(word) && COVERS[one ?? '']?.test(other ?? '') === true);
};

/** Whether a text has a word of kin. */
export const asksForKin = (text: string): boolean => wordsOf(text).some(isKin);
