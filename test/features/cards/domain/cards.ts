import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';

/** A V2 card as applications export it: with members beside `data`, extensions everywhere, and a book. */
export const v2Card = (over: JsonObject = {}): JsonObject => ({
  name: 'Mira',
  description: 'as of an older reader',
  create_date: '2024-02-03 @10h',
  spec: 'chara_card_v2',
  spec_version: '2.0',
  data: {
    name: 'Mira',
    description: '{{char}} keeps the inn. {{// an idea }}She knows <USER>.',
    personality: 'Calm, dry.',
    scenario: 'Winter has come.',
    first_mes: '*{{char}} looks up.*',
    mes_example: '<START>\n{{char}}: Yes?',
    creator_notes: 'Best at low temperatures.',
    system_prompt: '{{original}}Stay in character.',
    post_history_instructions: '',
    alternate_greetings: ['Hm?', 'You again.'],
    tags: ['fantasy'],
    creator: 'somebody',
    character_version: '1.2',
    extensions: { talkativeness: '0.5', depth_prompt: { prompt: 'x', depth: 4 }, 'agnai/voice': null },
    unheard_of: [1, null, { deep: true }],
    character_book: {
      name: 'The valley',
      extensions: { kept: true },
      entries: [
        { keys: ['gate'], content: 'The gate is old.', extensions: {}, enabled: true, insertion_order: 10, id: 1 },
        {
          keys: ['ford', 'river'],
          content: 'It froze over.',
          extensions: { a: 1 },
          enabled: true,
          insertion_order: 50,
        },
        { keys: ['secret'], content: 'Never told.', extensions: {}, enabled: false, insertion_order: 20 },
        { keys: [], content: 'There is a war.', extensions: {}, enabled: true, insertion_order: 30, constant: true },
        { keys: ['blank'], content: ' \n', extensions: {}, enabled: true, insertion_order: 90 },
      ],
    },
    ...over,
  },
});

/** A V3 card, with decorators in its book. */
export const v3Card = (over: JsonObject = {}): JsonObject => ({
  spec: 'chara_card_v3',
  spec_version: '3.0',
  data: {
    ...(v2Card()['data'] as JsonObject),
    nickname: 'Mi',
    assets: [{ type: 'icon', uri: 'ccdefault:', name: 'main', ext: 'png' }],
    creator_notes_multilingual: { en: 'Hello', de: 'Hallo' },
    source: ['https://example.com/mira'],
    group_only_greetings: ['All of you?'],
    creation_date: 1_700_000_000,
    modification_date: 1_700_000_001,
    character_book: {
      extensions: {},
      entries: [
        {
          keys: ['oath'],
          content: '@@depth 4\n@@@role system\n\n{{char}} swore an oath.\n@@not one',
          extensions: {},
          enabled: true,
          insertion_order: 1,
          use_regex: false,
          priority: 5,
          id: 'oath',
        },
      ],
    },
    ...over,
  },
});

export const v1Card: JsonObject = {
  name: 'Mira',
  description: 'Keeps the inn.',
  personality: '',
  scenario: '',
  first_mes: 'Hm?',
  mes_example: '',
  avatar: 'none',
};

/** A character as Agnai exports it. */
export const agnaiCard = (entries: readonly Json[]): JsonObject => ({
  kind: 'character',
  name: 'Orla',
  description: 'Made for a contest; rate me.',
  scenario: 'At sea.',
  greeting: 'Hi',
  sampleChat: '',
  systemPrompt: 'Stay calm.',
  persona: { kind: 'boostyle', attributes: { job: ['lamp keeper'], mind: ['calm', 'dry'] } },
  characterBook: { kind: 'memory', name: 'b', entries },
});
