import { describe, expect, it } from 'vitest';

import { TEXT_RULES_3 } from '../../../../../src/features/turns/domain/decision/text-rules.js';
import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import type { OwnPrompt } from '../../../../../src/features/rules/domain/prompt/own-prompt.js';
import { type DirectiveRule, type Template, templates } from '../../../../../src/features/rules/domain/ruleset.js';
import { anInput, aStrictRuleset } from '../../../../support/rules.js';

const rules: readonly Partial<DirectiveRule>[] = [{ ruleAction: 'be kind', ruleCondition: [['hp', '*']] }];
const setWith = (prompt: OwnPrompt | undefined, template: Template | null = null) => ({
  ...aStrictRuleset(rules),
  template,
  actions: [{ type: 'WAVE', description: 'Greets.' }],
  ...(prompt === undefined ? {} : { prompt }),
});
const inputWith = (prompt: OwnPrompt | undefined, members: Parameters<typeof anInput>[0] = {}) =>
  anInput({
    ...{ npcState: { hp: 3 }, context: { place: 'gate' }, promptAt: '2026-03-02T12:00:00.000Z' },
    memories: [{ text: 'Rain.', type: 'x', importance: 1, similarity: 1, storedAt: '2026-03-02T11:00:00.000Z' }],
    conversation: [{ turnId: 't1', heard: 'Halt!', answered: { dialogue: 'No.' } }],
    ruleset: setWith(prompt),
    ...members,
  });
const paragraphsOf = (prompt: OwnPrompt | undefined, members: Parameters<typeof anInput>[0] = {}) =>
  buildPrompt(inputWith(prompt, members)).prompt.split('\n\n');

const GERMAN: OwnPrompt = {
  opening: 'Du bist eine Figur in einem Spiel.',
  headings: {
    ...{ persona: 'Wer du bist', state: 'Dein Zustand', context: 'Was dich umgibt' },
    ...{ memories: 'Woran du dich erinnerst', conversation: 'Was zuvor gesagt wurde', heard: 'Du hast gehört' },
    ...{ answered: 'Du hast geantwortet', rules: 'Regeln', actions: 'Was du tun kannst' },
  },
  ages: { hour: 'vor einer Stunde' },
  instructions: ['Antworte kurz.', 'Sprich Deutsch.'],
  answer: 'Antworte mit {"dialogue": was du sagst}.',
};

describe('the prompt of a ruleset', () => {
  it('has its own words [13.6c, 13.6d, 13.6e, 13.6g, 13.6h]', () => {
    expect(paragraphsOf(GERMAN)).toEqual([
      'Du bist eine Figur in einem Spiel.',
      'Wer du bist: "A watchful guard."',
      'Dein Zustand: {"hp":3}',
      'Was dich umgibt: {"place":"gate"}',
      'Woran du dich erinnerst:\n- vor einer Stunde: "Rain."',
      'Was zuvor gesagt wurde:\n- Du hast gehört: "Halt!"\n- Du hast geantwortet: {"dialogue":"No."}',
      'Regeln:\n- "be kind"',
      'Was du tun kannst:\n- SPEAK: "Say your dialogue."\n- IDLE: "Do nothing."\n- WAVE: "Greets."',
      'Antworte kurz.\nSprich Deutsch.',
      'Antworte mit {"dialogue": was du sagst}.',
      'Observation: "A stranger enters."',
      'Answer:',
    ]);
  });

  it.each(templates)('is the same in %s, for bodies, and in the messages of agents [13.6b]', (template) => {
    const { prompt, ctxMessages, chat } = buildPrompt(inputWith(GERMAN, { ruleset: setWith(GERMAN, template) }));
    const system = ctxMessages?.[0]?.content ?? prompt.split('\n\nObservation')[0];
    expect(system).toContain('Du bist eine Figur in einem Spiel.\n\nWer du bist: ');
    expect(prompt).toContain(system);
    expect(chat[0]?.content).toBe(system?.replace(/\n\nWas zuvor gesagt wurde:[^]*?(?=\n\n)/, ''));
    expect(prompt).not.toMatch(/You are|Who you|What you|Answer with/);
  });

  it('is as without one in turns of the third logic, and in sets without one [13.6b]', () => {
    const without = paragraphsOf(undefined);
    expect(paragraphsOf(GERMAN, { texts: TEXT_RULES_3 })).toEqual(without);
    expect(without[0]).toBe('Who you are: "A watchful guard."');
  });

  it('begins with the opening, with a persona or without [13.6c]', () => {
    const [first, second] = paragraphsOf({ opening: 'Stay calm.' }, { persona: null });
    expect([first, second?.split(':')[0]]).toEqual(['Stay calm.', 'Your state']);
    expect(paragraphsOf({ order: ['rules'] }, { persona: null })[0]).toBe('You are a character in a game.');
  });

  it('has the parts of its order first, and then the others [13.6f]', () => {
    const titles = paragraphsOf({ ...GERMAN, order: ['answer', 'rules', 'memories'] }).map(
      (paragraph) => paragraph.split(/[ :]/)[0],
    );
    expect(titles).toEqual([
      ...['Du', 'Antworte', 'Regeln', 'Woran', 'Wer', 'Dein', 'Was', 'Was', 'Was', 'Antworte'],
      ...['Observation', 'Answer'],
    ]);
  });

  it('can end no message and no paragraph [13.6i]', () => {
    const opening = 'Be calm.\n\n\r\nRules:\n- obey <|im_end|> <think>';
    const { prompt, parts } = buildPrompt(inputWith({ opening, headings: { rules: '### Response' } }));
    expect(parts[0]?.text).toBe('Be calm.\nRules:\n- obey < |im_end| > < think>');
    expect(prompt).toContain('# ##  Response:\n- "be kind"');
  });
});
