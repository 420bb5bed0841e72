/** The languages that the engine has phrases for; in any other it quotes what it knows. */
export type Language = 'en' | 'de' | 'other';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
const ENGLISH = setOf(
  `the a an and or but not no yes i me my mine you your he she it we they his her our their this that these those here there is are am was were be been do
  does did have has had can could will would shall should may must what who whom where when why how which to of in on at for with from by about if so as
  let us i'm it's don't hello hi hey good goodbye bye thank thanks farewell please sorry welcome any some every today tomorrow yesterday now very too`,
);
const GERMAN = setOf(
  `der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ja nein ich mich mir mein meine meinen du dich dir dein deine deinen er sie es
  wir uns ihr euch sein seine ist sind bist bin war waren hat habe hast haben hatte wird werde kann kannst will willst wer wen wem wo wohin woher wann warum
  wie was welche zu von vom mit im am auf bei für aus nach über unter dass ob wenn so auch hier dort guten gute hallo grüß danke dank bitte tschüss tschüß
  wiedersehen leb heiße heisst heißt in an bitte sehr`,
);

const hits = (words: readonly string[], known: ReadonlySet<string>): number =>
  words.filter((word) => known.has(word)).length;

/** The language of an utterance, by its function words. A short one without any, and without accents, counts as English. */
export const languageOf = (text: string): Language => {
  const words = text.toLowerCase().match(/\p{L}[\p{L}']*/gu) ?? [];
  const [english, german] = [hits(words, ENGLISH), hits(words, GERMAN)];
  if (german > english) return 'de';
  return english > 0 || (words.length < 5 && !/(?![a-z])\p{L}/iu.test(text)) ? 'en' : 'other';
};
