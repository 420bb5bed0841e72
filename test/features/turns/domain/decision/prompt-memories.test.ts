import { describe, expect, it } from 'vitest';

import { logicOf } from '../../../../../src/features/turns/domain/decision/logic.js';
import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import type { RecalledMemory } from '../../../../../src/features/npcs/domain/events.js';
import { anInput } from '../../../../support/rules.js';

const promptAt = '2026-03-02T12:00:00.000Z';
const memory = (text: string, storedAt: string, more: Partial<RecalledMemory> = {}): RecalledMemory => ({
  ...{ text, type: 'observation', importance: 0.5, similarity: 0.9, storedAt },
  ...more,
});
/** Best first, as a recall gives them. */
const memories = [
  memory('The ruby is gone.', '2026-03-02T11:50:00.000Z', { memoryId: 'ruby' }),
  memory('It rained.', '2026-02-09T12:00:00.000Z', { memoryId: 'rain' }),
  memory('The town is called Elm.', '2026-03-02T11:00:00.000Z', { type: 'knowledge', memoryId: 'elm' }),
];
const linesOf = (members: Parameters<typeof anInput>[0]): readonly string[] =>
  buildPrompt(anInput(members))
    .parts.filter(({ from }) => from === 'memory')
    .map(({ text }) => text);
const formOf = (members: Parameters<typeof anInput>[0]): string =>
  buildPrompt(anInput(members))
    .prompt.split('\n\n')
    .find((part) => part.startsWith('Answer with')) ?? '';

describe('the memories of an agent', () => {
  it('begin with their age, the newest last [13.3a, 13.3d, 13.3e]', () => {
    const { prompt, parts } = buildPrompt(anInput({ memories, promptAt }));
    expect(prompt).toContain(
      'What you remember:\n- "The town is called Elm."\n- three weeks ago: "It rained."\n- ten minutes ago: "The ruby is gone."',
    );
    expect(parts.filter(({ from }) => from === 'memory').map(({ ref }) => ref)).toEqual(['elm', 'rain', 'ruby']);
  });

  it('have the time of the game, where it has a clock [13.3b, 13.3c]', () => {
    const timed = [
      memory('Now.', '2026-03-02T11:59:00.000Z', { gameTime: 90_000 }),
      memory('Then.', '2026-03-02T11:58:00.000Z', { gameTime: 3_600 }),
      memory('Ere the clock.', '2026-03-02T11:57:00.000Z'),
    ];
    expect(linesOf({ memories: timed, promptAt, facts: { time: 90_060 } })).toEqual([
      '"Ere the clock."',
      'yesterday: "Then."',
      'just now: "Now."',
    ]);
  });

  it('are the best ones, where room is short [13.3e]', () => {
    const long = Array.from({ length: 20 }, (_, at) =>
      memory('€'.repeat(1_000), `2026-03-02T11:${String(59 - at)}:00.000Z`, { memoryId: `m${String(at)}` }),
    );
    const shown = buildPrompt(anInput({ memories: long, promptAt })).parts.flatMap(({ from, ref }) =>
      from === 'memory' ? [ref] : [],
    );
    expect(shown).toEqual(['m6', 'm5', 'm4', 'm3', 'm2', 'm1', 'm0']);
  });

  it('stay as they are without a time of the prompt, as bodies send them [13.3d]', () => {
    expect(linesOf({ memories })).toEqual(['"The ruby is gone."', '"It rained."', '"The town is called Elm."']);
    const sent = memories.map(({ storedAt: _, ...one }) => one);
    expect(linesOf({ memories: sent, promptAt })).toEqual(linesOf({ memories }));
  });

  it('can be stored, as the form of the answer says [13.3g]', () => {
    expect(formOf({ promptAt })).toContain(
      '"memoryStore": a list of sentences to remember in place of the observation, or []}.',
    );
    expect(formOf({})).not.toContain('memoryStore');
    const { reachVerdict } = logicOf(4);
    const storedBy = (output: string) =>
      reachVerdict(anInput({ promptAt }), output).verdict.memoryStore.map(({ text }) => text);
    expect(storedBy('{"dialogue": "Hm.", "memoryStore": ["A stranger came.", "It was late."]}')).toEqual([
      'A stranger came.',
      'It was late.',
    ]);
    expect(storedBy('{"dialogue": "Hm.", "memoryStore": []}')).toEqual(['A stranger enters.']);
  });
});
