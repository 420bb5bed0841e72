import type { CharacterCard } from './read-card.js';

/** The replacement of `{{user}}`: a mind does not distinguish its players. */
const USER = 'the player';

const MACRO = /\{\{(char|user|original)\}\}|<(char|bot|user)>|\{\{\/\/[^{}]*\}\}/gi;

type NamedCard = Pick<CharacterCard, 'calledName'>;

/** The replacement of a macro, found in one of its two forms. */
const replacement = ({ calledName }: NamedCard, braced: string | undefined, pointed: string | undefined): string => {
  const macro = (braced ?? pointed ?? '').toLowerCase();
  if (macro === 'char' || macro === 'bot') return calledName;
  return macro === 'user' ? USER : '';
};

/** The length of a text after its macros are replaced, in UTF-16 units, without replacing them. */
export const charsWithNames = (text: string, card: NamedCard): number => {
  let chars = text.length;
  for (const [macro, braced, pointed] of text.matchAll(MACRO)) {
    chars += replacement(card, braced, pointed).length - macro.length;
  }
  return chars;
};

/**
 * A text of a card with its macros replaced (docs/reference/formats/character-card.md): the character's and the player's name; comments and the
 * application's own prompt (`{{original}}`), which a mind does not have, are left out. Other macros are kept.
 */
export const withNames = (text: string, card: NamedCard): string =>
  text.replace(MACRO, (_, braced?: string, pointed?: string) => replacement(card, braced, pointed));

/**
 * A card's description of the character, for a mind's persona; null if there is none. Prompts use the beginning of a long persona, so the most
 * important part comes first.
 */
export const personaOf = (card: CharacterCard): string | null => {
  const { description, personality, scenario, systemPrompt } = card;
  const parts = [
    ['', description],
    ['Personality: ', personality],
    ['Scenario: ', scenario],
    ['Instructions: ', systemPrompt],
  ]
    .map(([label = '', text = '']) => ({ label, text: withNames(text, card).trim() }))
    .filter(({ text }) => text !== '')
    .map(({ label, text }) => `${label}${text}`);
  if (parts.length === 0) return null;
  const persona = parts.join('\n\n');
  const isNamed = persona.toLowerCase().includes(card.calledName.toLowerCase());
  return isNamed ? persona : `Name: ${card.calledName}\n\n${persona}`;
};
