import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';

/** A kind of file that is no character card, and what to do with it. */
type ForeignKind = {
  /** With its article, as in "an Agnai memory book". */
  readonly named: string;
  readonly advice: string;
  readonly matches: (content: JsonObject) => boolean;
};

const INTO_CARD = 'Write what the character is into the "description" of a character card, and import that.';
const INTO_BOOK = 'It has no character. Put its entries into the "character_book" of a character card.';

const has = (content: JsonObject, ...names: readonly string[]): boolean =>
  names.every((name) => Object.hasOwn(content, name));
const hasAny = (content: JsonObject, ...names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(content, name));
const inside = (content: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(content, name) ? content[name] : undefined;
  return isObject(value) ? value : {};
};
const isList = (value: Json | undefined): boolean => Array.isArray(value);

/** Members that only cards have: whatever else such a file has, it is a card. */
const isTavern = (content: JsonObject): boolean => hasAny(content, 'first_mes', 'personality', 'mes_example');

const isCharacterAi = (content: JsonObject): boolean =>
  !isTavern(content) &&
  content['kind'] !== 'character' &&
  (hasAny(content, 'external_id', 'participant__name', 'participant__user__username') ||
    (has(content, 'greeting') && hasAny(content, 'definition', 'copyable', 'img_gen_enabled')));

const isLetta = (content: JsonObject): boolean =>
  (isList(content['agents']) && hasAny(content, 'blocks', 'tools', 'groups', 'sources', 'mcp_servers')) ||
  has(content, 'agent_type') ||
  (has(content, 'llm_config') && hasAny(content, 'core_memory', 'system', 'memory')) ||
  (isList(content['core_memory']) && has(content, 'system'));

const isBackyard = (content: JsonObject): boolean =>
  hasAny(content, 'aiDisplayName', 'aiPersona') || (has(content, 'aiName') && has(content, 'basePrompt'));

const KINDS: readonly ForeignKind[] = [
  { named: 'a Letta agent file', advice: INTO_CARD, matches: isLetta },
  {
    named: 'a Character.AI dump',
    advice: INTO_CARD,
    matches: (content) =>
      isCharacterAi(content) ||
      isCharacterAi(inside(content, 'character')) ||
      isCharacterAi(inside(inside(content, 'info'), 'character')) ||
      has(content, 'histories', 'info'),
  },
  {
    named: 'a Backyard AI character',
    advice: 'Export it from Backyard AI as a PNG, which holds a character card.',
    matches: (content) => isBackyard(content) || isBackyard(inside(content, 'character')),
  },
  {
    named: 'an Agnai memory book',
    advice: INTO_BOOK,
    matches: (content) => content['kind'] === 'memory' && has(content, 'entries'),
  },
  { named: 'a NovelAI lorebook', advice: INTO_BOOK, matches: (content) => has(content, 'lorebookVersion') },
  {
    named: 'a NovelAI story or scenario',
    advice: INTO_CARD,
    matches: (content) => hasAny(content, 'storyContainerVersion', 'scenarioVersion'),
  },
  {
    named: 'a RisuAI lorebook',
    advice: INTO_BOOK,
    matches: (content) => content['type'] === 'risu' && isList(content['data']),
  },
  {
    named: 'a RisuAI module',
    advice: 'Export the character itself from RisuAI, as a character card.',
    matches: (content) => content['type'] === 'risuModule',
  },
  {
    named: 'a lorebook',
    advice: INTO_BOOK,
    matches: (content) => typeof content['spec'] === 'string' && content['spec'].startsWith('lorebook'),
  },
  {
    named: 'a SillyTavern World Info file',
    advice: INTO_BOOK,
    matches: (content) =>
      (isObject(content['entries']) || isList(content['entries'])) &&
      !isTavern(content) &&
      !hasAny(content, 'spec', 'char_persona', 'persona'),
  },
  {
    named: 'a KoboldAI save',
    advice: INTO_CARD,
    matches: (content) => has(content, 'gamestarted') && hasAny(content, 'actions', 'worldinfo', 'memory'),
  },
  {
    named: 'a text-generation-webui character',
    advice: 'Rename "context" to "description" and "greeting" to "first_mes".',
    matches: (content) => has(content, 'name', 'context') && !isTavern(content) && !has(content, 'description'),
  },
];

/** Which kind of file this is, if it is a known one that is no character card: a sentence with what to do instead. */
export const foreignFile = (content: JsonObject): string | null => {
  // A card says so itself.
  if (typeof content['spec'] === 'string' && content['spec'].startsWith('chara_card')) return null;
  const kind = KINDS.find(({ matches }) => matches(content));
  return kind === undefined ? null : `This is ${kind.named}, not a character card. ${kind.advice} Nothing was stored.`;
};
