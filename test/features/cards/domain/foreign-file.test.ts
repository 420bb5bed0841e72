import { describe, expect, it } from 'vitest';

import { foreignFile } from '../../../../src/features/cards/domain/foreign-file.js';
import { readCard, readRecordedCard } from '../../../../src/features/cards/domain/read-card.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { agnaiCard, v1Card, v2Card, v3Card } from './cards.js';

const entries = { 0: { key: ['lamp'], content: 'It is old.' } };
const characterAi = {
  external_id: 'x',
  name: 'Orla',
  title: 't',
  greeting: 'Hi',
  description: 'Calm.',
  definition: '',
};

const FILES: readonly (readonly [string, JsonObject])[] = [
  ['a Letta agent file', { agents: [], groups: [], blocks: [], files: [], sources: [], tools: [], metadata: {} }],
  ['a Letta agent file', { agent_type: 'memgpt_agent', name: 'Orla', description: 'x', system: 's', core_memory: [] }],
  ['a Letta agent file', { name: 'Orla', description: null, llm_config: {}, system: '', messages: [] }],
  ['a Character.AI dump', characterAi],
  ['a Character.AI dump', { character: characterAi, status: 'OK' }],
  ['a Character.AI dump', { info: { character: characterAi }, histories: {} }],
  ['a Character.AI dump', { name: 'Orla', description: 'x', greeting: 'Hi', definition: 'd' }],
  ['a Character.AI dump', { participant__name: 'Orla', description: 'x', greeting: 'Hi' }],
  ['a Backyard AI character', { character: { aiDisplayName: 'Orla', aiPersona: 'Calm.' }, version: 1 }],
  ['an Agnai memory book', { kind: 'memory', name: 'b', description: '', entries: [] }],
  ['a NovelAI lorebook', { lorebookVersion: 6, entries: [] }],
  ['a NovelAI story or scenario', { scenarioVersion: 3, title: 't', description: 'd' }],
  ['a NovelAI story or scenario', { storyContainerVersion: 1 }],
  ['a RisuAI lorebook', { type: 'risu', ver: 1, data: [] }],
  ['a RisuAI module', { type: 'risuModule', module: {} }],
  ['a lorebook', { spec: 'lorebook_v3', data: { entries: [] } }],
  ['a SillyTavern World Info file', { entries }],
  ['a SillyTavern World Info file', { name: 'b', description: 'A book.', entries }],
  ['a KoboldAI save', { gamestarted: true, prompt: '', memory: '', actions: [] }],
  ['a text-generation-webui character', { name: 'Orla', context: 'Calm.', greeting: 'Hi' }],
];

describe('a file that is no character card', () => {
  it.each(FILES)('is refused as %s [8.9y]', (named, content) => {
    try {
      readCard(content);
      expect.unreachable();
    } catch (thrown) {
      if (!(thrown instanceof Rejection)) throw thrown;
      expect([thrown.code, thrown.message]).toEqual([
        'CARD_INVALID',
        expect.stringContaining(`This is ${named}, not a character card.`),
      ]);
    }
  });

  it('is not a card, whatever else it has, nor a character of Agnai or Pygmalion [8.9x, 8.9y]', () => {
    for (const card of [
      v1Card,
      { ...v1Card, agents: [], external_id: 'x', greeting: '', definition: '', context: '' },
      { ...v2Card(), entries: {}, agent_type: 'x', kind: 'memory' },
      v3Card(),
      agnaiCard([]),
      { char_name: 'Orla', char_persona: 'Calm.', char_greeting: 'Hi' },
    ]) {
      expect(foreignFile(card)).toBeNull();
    }
  });

  it('is still read if it was recorded before it was known', () => {
    expect(readRecordedCard({ ...characterAi })).toMatchObject({ version: 1, name: 'Orla', description: 'Calm.' });
  });
});
