import { describe, expect, it } from 'vitest';

import type { DecisionInput } from '../../../../../src/features/turns/domain/decision/input.js';
import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import { promptTokens } from '../../../../../src/features/turns/domain/decision/prompt-parts.js';
import { formats } from '../../../../../src/features/turns/domain/decision/templates.js';
import type { JsonObject } from '../../../../../src/kernel/base/json.js';
import { countTokens } from '../../../../../src/kernel/model-text/count-tokens.js';
import { templates } from '../../../../../src/features/rules/domain/ruleset.js';
import { anInput, aRuleset, aStrictRuleset } from '../../../../support/rules.js';

const sentences = (of: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `The ${of} number ${String(at)} stood by the river.`).join(' ');
const memories = Array.from({ length: 10 }, (_, at) => ({
  ...{ text: `Memory ${String(at)} is about a mill. ${sentences('mill', 6)}`, type: 'x', importance: 1 },
  ...{ similarity: at === 3 ? 0.99 : 0.9 - at / 100, memoryId: `m${String(at)}` },
}));
const full = anInput({
  persona: sentences('guard', 60),
  npcState: { hp: 3, mood: 'calm', note: sentences('ship', 40) },
  context: { place: 'gate', crowd: Array.from({ length: 200 }, (_, at) => `person ${String(at)}`) },
  memories,
  conversation: Array.from({ length: 12 }, (_, at) => ({
    ...{ turnId: `t${String(at)}`, heard: `Question ${String(at)}? ${sentences('cart', 3)}` },
    answered: { dialogue: `Answer ${String(at)}.` },
  })),
  ruleset: aRuleset([{ ruleAction: 'FORBID ATTACK', ruleReason: 'No blood.', ruleCondition: [['mood', 'calm']] }]),
});
const shownOf = (promptBudget?: number) => {
  const built = buildPrompt(promptBudget === undefined ? full : { ...full, promptBudget });
  const from = (origin: string) => built.parts.filter((part) => part.from === origin);
  return { ...built, from };
};

describe('a prompt with a budget', () => {
  it('is as without one while it fits [13.1a]', () => {
    const whole = buildPrompt(full);
    const tokens = promptTokens(whole.parts);
    expect(buildPrompt({ ...full, promptBudget: tokens })).toEqual(whole);
    expect(buildPrompt({ ...full, promptBudget: tokens - 1 }).prompt).not.toBe(whole.prompt);
  });

  it.each(templates)('never takes more in %s, by the counter, in the prompt and as messages [13.1b]', (template) => {
    for (const promptBudget of [400, 600, 1_000, 2_000, 4_000]) {
      const input = { ...full, promptBudget, ruleset: aRuleset(full.ruleset?.rulesetRules ?? [], template) };
      const { prompt, chat, parts } = buildPrompt(input);
      expect(promptTokens(parts)).toBeLessThanOrEqual(promptBudget);
      // A template's own marks are a token each, which the counter cannot know.
      const marks = countTokens(formats[template].format('', ''));
      expect(countTokens(prompt) - marks).toBeLessThanOrEqual(promptBudget);
      expect(chat.reduce((sum, { content }) => sum + countTokens(content) + 4, 0)).toBeLessThanOrEqual(promptBudget);
      // Most of it is used.
      if (promptBudget > 600) expect(promptTokens(parts)).toBeGreaterThan(promptBudget * 0.7);
    }
  });

  it('keeps observation, rules and the form of the answer, however small it is [13.1c]', () => {
    const { prompt, from } = shownOf(1);
    expect(prompt).toContain('ATTACK is forbidden ("No blood.").');
    expect(prompt).toContain('Answer with one JSON object');
    expect(prompt).toContain('"A stranger enters."');
    for (const origin of ['persona', 'state', 'context', 'memory', 'conversation']) expect(from(origin)).toEqual([]);
  });

  it('gives what would be too little for anything to the others, and uses what is left over [13.1c]', () => {
    const persona =
      'Greta is the smith of Hohenfels. She is proud. She lost her brother in the mine. She sells swords.';
    const few = anInput({
      ...full,
      persona,
      npcState: { hp: 3 },
      context: {},
      memories: [],
      ruleset: aStrictRuleset([]),
    });
    for (const promptBudget of [180, 220, 260, 300, 400]) {
      const { parts } = buildPrompt({ ...few, promptBudget });
      const tokens = promptTokens(parts);
      expect(tokens).toBeLessThanOrEqual(promptBudget);
      // At most one exchange, of some 60 tokens, has no room.
      expect(tokens, String(promptBudget)).toBeGreaterThan(promptBudget - 70);
    }
  });

  it('matches rules on what the turn knows, not on what the prompt shows [13.1c]', () => {
    expect(shownOf(400).trace).toEqual(shownOf().trace);
  });

  it('shows the persona in whole sentences [13.1d]', () => {
    expect(shownOf(1_200).from('persona')[0]?.text).toMatch(/ stood by the river\.…"$/);
  });

  it('keeps state and context JSON, with whole members [13.1d]', () => {
    const { from } = shownOf(1_200);
    const value = (origin: string) => JSON.parse((from(origin)[0]?.text ?? '').replace(/^[^{]*/, '')) as object;
    expect(value('state')).toMatchObject({ hp: 3, mood: 'calm' });
    expect(value('context')).toMatchObject({ place: 'gate' });
  });

  it('leaves out the memories that match least, and shows the windows of long ones that match best [13.1d]', () => {
    const refs = shownOf(600)
      .from('memory')
      .map(({ ref }) => ref);
    expect(refs.length).toBeGreaterThan(0);
    expect(refs.length).toBeLessThan(10);
    expect(refs).toContain('m3');
    expect(refs).not.toContain('m9');
    const text = `${sentences('mill', 10)} The ruby is under the stone. ${sentences('mill', 10)}`;
    const long = [{ text, type: 'x', importance: 1, similarity: 1 }];
    const asked = { memories: long, observation: 'Where is the ruby?', promptBudget: 200 };
    const { prompt } = buildPrompt(anInput({ ...asked, ruleset: aStrictRuleset([]) }));
    expect(prompt).toContain('The ruby is under the stone.');
    expect(prompt).not.toContain('number 5 ');
  });

  it('leaves out the oldest exchanges [13.1d]', () => {
    const refs = shownOf(1_200)
      .from('conversation')
      .map(({ ref }) => ref);
    expect(refs).not.toContain('t0');
    expect(refs.slice(-2)).toEqual(['t11', 't11']);
  });

  describe('of 450 tokens', () => {
    const said = (at: number) => ({
      turnId: `t${String(at)}`,
      heard: `Line ${String(at)}: have you seen the ferryman at the old mill today?`,
      answered: { dialogue: `Answer ${String(at)}: he crossed the river before the rain.`, action: { type: 'SPEAK' } },
    });
    const talk = (lines: number, npcState: JsonObject = { mood: 'calm', hp: 40 }, more: Partial<DecisionInput> = {}) =>
      buildPrompt(
        anInput({
          ...{ persona: sentences('guard', 60), npcState, promptBudget: 450, ruleset: aStrictRuleset([]) },
          ...{ conversation: Array.from({ length: lines }, (_, at) => said(at)), promptAt: '2026-03-02T12:00:00.000Z' },
          ...more,
        }),
      );
    const fromOf = ({ parts }: ReturnType<typeof talk>, origin: string) => parts.filter(({ from }) => from === origin);

    it('always shows the newest exchange, and uses the room [13.1c, 13.1d]', () => {
      for (let lines = 1; lines <= 12; lines += 1)
        for (const memoriesShown of [[], memories]) {
          const built = talk(lines, undefined, { memories: memoriesShown });
          const refs = fromOf(built, 'conversation').map(({ ref }) => ref);
          expect(refs, `${String(lines)} lines`).toContain(`t${String(lines - 1)}`);
          expect(promptTokens(built.parts), `${String(lines)} lines`).toBeGreaterThan(425);
          expect(promptTokens(built.parts)).toBeLessThanOrEqual(450);
        }
    });

    it('keeps the figures of a state beside a member that is too large [13.1d]', () => {
      const ledger = 'Ada owes nine coins. '.repeat(100);
      for (const more of [{}, { memories }, { promptBudget: 300 }]) {
        const built = talk(3, { ledger, mood: 'calm', hp: 40 }, more);
        expect(fromOf(built, 'state')[0]?.text).toMatch(/"mood":"calm","hp":40/);
      }
    });

    it('says what it leaves out [13.1f]', () => {
      const ledger = 'Ada owes nine coins. '.repeat(100);
      const { leftOut, parts } = talk(12, { ledger, mood: 'calm', hp: 40 }, { memories });
      const shown = (origin: string) => parts.filter(({ from }) => from === origin).length;
      const of = (from: string, inPart: boolean) => leftOut.find((one) => one.from === from && one.inPart === inPart);
      expect(of('persona', true)).toEqual({ from: 'persona', count: 1, inPart: true });
      expect(of('state', false) ?? of('state', true)).toMatchObject({ count: 1, names: ['ledger'] });
      expect(of('conversation', false)?.count).toBe(12 - shown('conversation') / 2);
      expect(of('memory', false)?.count).toBe(10 - shown('memory'));
      expect(of('context', false)).toBeUndefined();
      expect(talk(0, {}, { persona: 'A guard.' })).toMatchObject({ isShortened: false, leftOut: [] });
      const many = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`n${String(at)}`, at]));
      const [first] = talk(0, many, { persona: null }).leftOut;
      expect(first).toMatchObject({ from: 'state', inPart: false });
      expect(first?.names).toHaveLength(20);
      expect(first?.count).toBeGreaterThan(500);
    });

    it('shows some memories rather than the beginnings of all [13.1d]', () => {
      const shown = fromOf(talk(3, undefined, { memories }), 'memory').map(({ text }) => text);
      expect(shown.length).toBeGreaterThan(0);
      for (const text of shown) expect(text.length, text).toBeGreaterThan(80);
    });
  });
});
