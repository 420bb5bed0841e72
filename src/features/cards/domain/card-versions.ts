import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { flatCard } from './flat-card.js';
import { undecorated } from './lore.js';
import { entriesOfBook, standardMembers } from './lore-entry.js';
import type { CharacterCard } from './read-card.js';

/** The versions in which a card is exported. */
export type GivenVersion = 2 | 3;

const V2_DEFAULTS: JsonObject = {
  name: '',
  description: '',
  personality: '',
  scenario: '',
  first_mes: '',
  mes_example: '',
  creator_notes: '',
  system_prompt: '',
  post_history_instructions: '',
  alternate_greetings: [],
  tags: [],
  creator: '',
  character_version: '',
  extensions: {},
};

/** The remark that chara_card_v3 requires when a reader of V2 gets a V3 card. */
const REMARK =
  'This is a Character Card V3, converted to V2 for software that does not support V3. Some of its contents need software that supports V3.';

/** An object with defaults for missing members; `null` counts as absent, as when a card is read. */
const withDefaults = (defaults: JsonObject, object: JsonObject): JsonObject => {
  const absent = Object.entries(defaults).filter(([name]) => (object[name] ?? null) === null);
  return { ...object, ...Object.fromEntries(absent) };
};

/**
 * A card with each entry of its book under the names of the specification, and changed; what is no entry is left out. A card without a book is
 * returned unchanged.
 */
const withEntries = (data: JsonObject, change: (entry: JsonObject) => JsonObject): JsonObject => {
  const { character_book: book } = data;
  const given = entriesOfBook(book);
  if (!isObject(book) || given === undefined) return data;
  const entries = Object.values(given).flatMap((entry: Json) =>
    isObject(entry) ? [change({ ...entry, ...standardMembers(entry) })] : [],
  );
  return { ...data, character_book: { ...withDefaults({ extensions: {} }, book), entries } };
};

/** The defaults that chara_card_v2 and chara_card_v3 both require. */
const ENTRY_DEFAULTS: JsonObject = { keys: [], content: '', extensions: {}, enabled: true, insertion_order: 0 };

const bare = (entry: JsonObject): JsonObject => {
  const { content } = entry;
  return typeof content === 'string' ? { ...entry, content: undecorated(content).text } : entry;
};

/** The members of a card, wherever its version has them. */
export const dataOfCard = ({ version, content }: Pick<CharacterCard, 'version' | 'content'>): JsonObject =>
  version === 1 ? flatCard(content).members : (content['data'] as JsonObject);

/**
 * A card in a version. In its own version it is unchanged; in another one it has the same members, defaults for those that the version requires, and
 * as V2 no decorators.
 */
export const inVersion = (card: Pick<CharacterCard, 'version' | 'content'>, version: GivenVersion): JsonObject => {
  if (card.version === version) return card.content;
  const data = withDefaults(V2_DEFAULTS, dataOfCard(card));
  const around = card.version === 1 ? {} : card.content;
  if (version === 2) {
    return {
      ...around,
      spec: 'chara_card_v2',
      spec_version: '2.0',
      data: withEntries(data, (entry) => bare(withDefaults(ENTRY_DEFAULTS, entry))),
    };
  }
  const v3 = withEntries(withDefaults({ group_only_greetings: [] }, data), (entry) =>
    withDefaults({ ...ENTRY_DEFAULTS, use_regex: false }, entry),
  );
  return { ...around, spec: 'chara_card_v3', spec_version: '3.0', data: v3 };
};

/** A V3 card for readers that only support V2. */
export const forOldReaders = (card: Pick<CharacterCard, 'version' | 'content'>): JsonObject => {
  const v2 = inVersion(card, 2);
  const data = v2['data'] as JsonObject;
  const { creator_notes: notes } = data;
  const remarked = typeof notes === 'string' && notes !== '' ? `${REMARK}\n\n${notes}` : REMARK;
  return { ...v2, data: { ...data, creator_notes: remarked } };
};
