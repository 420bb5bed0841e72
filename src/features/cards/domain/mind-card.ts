import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { cutText } from '../../../kernel/base/text.js';
import { dataOfCard, type GivenVersion, inVersion } from './card-versions.js';
import { personaOf } from './persona.js';
import { type CardVersion, type CharacterCard, NAME_CHARS } from './read-card.js';

/** A memory of a mind without a card, for the book of the card that is made from it. */
export type KnownFact = { readonly text: string; readonly importance: number; readonly metadata?: JsonObject };

/** The parts of a mind that a card shows. */
export type CardedMind = { readonly npcId: string; readonly persona: string | null; readonly data: JsonObject | null };

/** The members that a persona is made from. A persona that was changed since then replaces all of them, so they would contradict it. */
const PERSONA_MEMBERS = ['description', 'personality', 'scenario', 'system_prompt'] as const;

/** The members of a card that describe the character, replaced by another persona. Only existing members are set; V1 has no `system_prompt`. */
const withPersona = (members: JsonObject, persona: string): JsonObject => {
  const there = PERSONA_MEMBERS.filter((name) => name === 'description' || Object.hasOwn(members, name));
  return { ...members, ...Object.fromEntries(there.map((name) => [name, name === 'description' ? persona : ''])) };
};

/** An imported card with the current mind: unchanged, unless its persona was changed since. */
export const currentCard = (
  card: CharacterCard,
  persona: string | null,
): Pick<CharacterCard, 'version' | 'content'> => {
  const { version, content } = card;
  if (persona === null || persona === personaOf(card)) return card;
  const data = withPersona(dataOfCard(card), persona);
  if (version === 1) return { version, content: data };
  // Applications also write these members next to `data`, for readers of V1.
  const around = Object.hasOwn(content, 'description') ? withPersona(content, persona) : content;
  return { version, content: { ...around, data } };
};

const entryOf = ({ text, importance, metadata = {} }: KnownFact, index: number): JsonObject => {
  const listOf = (name: string): Json | undefined => (Array.isArray(metadata[name]) ? metadata[name] : undefined);
  const wordsOf = (name: string): Json | undefined => (typeof metadata[name] === 'string' ? metadata[name] : undefined);
  const keys = (listOf('keys') as readonly Json[] | undefined)?.filter((key) => typeof key === 'string') ?? [];
  return defined({
    keys,
    content: text,
    extensions: {},
    enabled: true,
    insertion_order: index,
    priority: Math.round(importance * 100),
    // An entry that no key triggers would never be read.
    constant: keys.length === 0 || metadata['constant'] === true,
    name: wordsOf('name'),
    comment: wordsOf('comment'),
  });
};

/** The card of a mind that has no imported one. @param known oldest first */
export const madeCard = ({ npcId, persona, data }: CardedMind, known: readonly KnownFact[]): JsonObject => {
  const name = isObject(data) && Object.hasOwn(data, 'name') ? data['name'] : undefined;
  const members: JsonObject = {
    name: cutText(typeof name === 'string' && name !== '' ? name : npcId, NAME_CHARS),
    description: persona ?? '',
    ...(known.length === 0 ? {} : { character_book: { extensions: {}, entries: known.map(entryOf) } }),
  };
  return inVersion({ version: 1, content: members }, 3);
};

/** The version in which a card is exported by default. */
export const ownVersion = (version: CardVersion): GivenVersion => (version === 3 ? 3 : 2);
