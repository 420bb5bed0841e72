import { describe, expect, it } from 'vitest';

import { whyOf } from '../../../src/features/turns/why.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import type { TurnAnswer } from '../../../workflows/turn/turn-answer.js';
import { sha256Base64url } from '../../../src/kernel/crypto/sha256.js';
import { checksOf } from '../../support/seals.js';
import { settle } from '../../support/settle.js';
import { DEADLINE_MS, generated, identified, openMinds, recalled, tapeOf, TENANT } from '../../support/minds.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { aRuleset, aStrictRuleset } from '../../support/rules.js';

const opened = async () => {
  const minds = await openMinds();
  const { writers, events, repository } = minds.deps;
  const rulesets = openRulesets(writers, events);
  const why = (turnId: string) =>
    whyOf({ events, repository, writers, rulesets, checks: checksOf(events) }, TENANT, 'mira', turnId);
  /** Plays this many steps of a turn. */
  const play = async (steps: number, over: Parameters<typeof tapeOf>[0] = {}): Promise<TurnAnswer> => {
    let { answer } = await minds.step(tapeOf(over));
    for (const result of [identified, recalled, generated].slice(0, steps - 1)) {
      answer = (await minds.step(tapeOf({ ...over, turnId: answer.turnId }), result)).answer;
    }
    return answer;
  };
  return { ...minds, why, play, [Symbol.asyncDispose]: () => minds[Symbol.asyncDispose]() };
};

describe('why', () => {
  it('shows everything that a verdict was based on, from the record [10.2a]', async () => {
    await using minds = await opened();
    await minds.register(
      aRuleset([
        { drRuleId: 'calm', ruleName: 'Calm', ruleCondition: [['mood', 'calm']], rulePromptSuffix: 'Speak softly.' },
        { drRuleId: 'angry', ruleCondition: [['mood', 'angry']], ruleAction: 'ATTACK' },
      ]),
    );
    const { turnId } = await minds.play(4, { rulesetId: 'test' });
    const why = await minds.why(turnId);
    expect(why.turn).toMatchObject({ kind: 'process', state: 'ended', observation: 'A stranger asks for a room.' });
    expect(why.mind).toMatchObject({ persona: 'An innkeeper.', data: { mood: 'calm' } });
    expect(why.rules).toMatchObject([
      { drRuleId: 'calm', ruleName: 'Calm', matched: true, conditions: [{ key: 'mood', holds: true, saw: 'calm' }] },
      { drRuleId: 'angry', matched: false, conditions: [{ key: 'mood', holds: false, saw: 'calm' }] },
    ]);
    expect(why.memories).toEqual(recalled.memories);
    expect(why.prompt).toMatchObject({ madeAgain: true, constraints: { maxTokens: 512 } });
    expect(why.prompt?.digest).toBe(sha256Base64url(why.prompt?.text ?? ''));
    expect(why).not.toHaveProperty('rulesetMissing');
    expect(why.prompt?.text).toContain('Speak softly.');
    expect(why.model).toMatchObject({ text: 'Three coins, in advance.', read: { structured: false } });
    expect(why.memoriesStored).toMatchObject([{ text: 'A stranger asks for a room.', memoryId: `${turnId}-0` }]);
    expect(why.events.map(({ type }) => type)).toEqual([
      'TurnOpened',
      'ActorIdentified',
      'MemoriesRecalled',
      'VerdictReached',
      'MemoryStored',
    ]);
  });

  it('shows the checks of an action, and the resulting state change and memories [10.2a]', async () => {
    await using minds = await opened();
    await minds.register(aRuleset([{ drRuleId: 'calm', ruleAction: 'be polite' }]));
    const { turnId } = await minds.play(3, { rulesetId: 'test' });
    const generatedOutput = JSON.stringify({
      ...{ dialogue: 'Here.', action: { type: 'GIVE', target: 'guest', item: 'key' } },
      ...{ stateDelta: { coins: 3 }, memoryStore: [{ text: 'The guest paid.', type: 'experience', importance: 0.5 }] },
    });
    await minds.step(tapeOf({ turnId, rulesetId: 'test' }), { type: 'ExecuteInferenceResult', generatedOutput });
    const why = await minds.why(turnId);
    const grounds = why.turn.verdict?.grounds as { readonly checks: readonly object[] };
    expect(grounds.checks.length).toBeGreaterThan(0);
    expect(why.stateChange).toEqual({ coins: 3 });
    expect(why.memoriesStored).toContainEqual(expect.objectContaining({ text: 'The guest paid.' }));
  });

  it('shows which rule of grammar 2 decided, and everything that it did [10.2c]', async () => {
    await using minds = await opened();
    const flee = { ruleAction: 'REQUIRE FLEE', ruleOnBreak: 'replace', ruleRefusal: 'Help!', rulePriority: 9 } as const;
    await minds.register(
      aStrictRuleset([
        {
          drRuleId: 'alarm',
          ruleCondition: [
            ['alarm', 'true'],
            ['action.type', '!=FLEE'],
          ],
          ...flee,
        },
        { drRuleId: 'fair', ruleAction: 'ALLOW SELL', rulePriority: 5 },
        { drRuleId: 'closed', ruleAction: 'FORBID SELL', rulePriority: 3 },
        { drRuleId: 'poor', ruleCondition: [['gold', '>=10']], ruleAction: 'FORBID BUY', ruleReason: 'No money.' },
      ]),
    );
    const ended = async (npcState: JsonObject, action: string, stateDelta = {}) => {
      const over = { rulesetId: 'test', npcState };
      const { turnId } = await minds.play(3, over);
      const generatedOutput = JSON.stringify({ dialogue: 'So.', action: { type: action }, stateDelta });
      await minds.step(tapeOf({ turnId, ...over }), { type: 'ExecuteInferenceResult', generatedOutput });
      return minds.why(turnId);
    };
    const sold = await ended({ gold: 12 }, 'SELL', { gold: 99, mood: 'glad' });
    expect(sold).toMatchObject({ decidedBy: 'fair', stateChange: { mood: 'glad' } });
    expect(sold.rules.map(({ drRuleId, ruleAction }) => [drRuleId, ruleAction])).toEqual([
      ['alarm', 'REQUIRE FLEE'],
      ['fair', 'ALLOW SELL'],
      ['closed', 'FORBID SELL'],
      ['poor', 'FORBID BUY'],
    ]);
    expect(sold.turn.verdict?.grounds.stateBreaks).toMatchObject([{ path: 'gold', onBreak: 'leave_out' }]);
    const fled = await ended({ gold: 12, alarm: true }, 'SELL');
    expect(fled).toMatchObject({ decidedBy: 'alarm' });
    expect(fled.turn.verdict?.grounds.replacedBy).toBe('alarm');
    const poor = await ended({ gold: 'plenty' }, 'BUY');
    expect(poor).toMatchObject({ decidedBy: 'poor' });
    expect(poor.rules.find(({ drRuleId }) => drRuleId === 'poor')).toMatchObject({
      ...{
        matched: true,
        conditions: [{ key: 'gold', holds: false, saw: 'plenty', error: expect.any(String) as string }],
      },
    });
    expect(await ended({}, 'WAVE')).not.toHaveProperty('decidedBy');
  });

  it('shows what an expression in CEL read [5.11n]', async () => {
    await using minds = await opened();
    const expression = "state.mood == 'calm' && state.hp > 5 && has(state.quest)";
    const set = aStrictRuleset([{ drRuleId: 'fit', ruleCondition: [['cel', expression]], ruleAction: 'be brave' }]);
    await minds.register({ ...set, rulesetId: 'test' });
    const { turnId } = await minds.play(4, { rulesetId: 'test', npcState: { hp: 7, mood: 'calm' } });
    const [rule] = (await minds.why(turnId)).rules;
    const saw = { 'state.mood': 'calm', 'state.hp': 7 };
    expect(rule?.conditions).toEqual([{ key: 'cel', expected: expression, holds: false, saw }]);
  });

  it('marks values that are only partly recorded', async () => {
    await using minds = await opened();
    await minds.register(aRuleset([{ drRuleId: 'long', ruleCondition: [['note', '*']] }]));
    const { turnId } = await minds.play(4, { rulesetId: 'test', npcState: { note: 'x'.repeat(5_000) } });
    const [{ conditions } = { conditions: [] }] = (await minds.why(turnId)).rules;
    expect(conditions).toMatchObject([{ key: 'note', holds: true, notRecorded: true }]);
    expect(JSON.stringify(conditions).length).toBeLessThan(2_000);
  });

  it('shows the mind at that time, not the current one', async () => {
    await using minds = await opened();
    const { turnId } = await minds.play(4);
    const before = await minds.why(turnId);
    await minds.play(4, { actor: { npcId: 'mira', persona: 'Another.', data: { mood: 'angry' } } });
    expect(await minds.why(turnId)).toEqual(before);
  });

  it('shows notes outside the rounds: a missing ruleset, contradictions, and an expiry long after [10.2b]', async () => {
    await using minds = await opened();
    const { turnId } = await minds.play(2, { rulesetId: 'never-registered' });
    const other = tapeOf({ turnId, observation: 'Another stranger asks.' });
    await minds.step(other, identified);
    for (let turns = 0; turns < 10; turns += 1) await minds.play(4, { observation: `Guest ${String(turns)} asks.` });
    await minds.clock.advance(DEADLINE_MS);
    await settle(20);
    const why = await minds.why(turnId);
    expect(why.turn.state).toBe('expired');
    expect(why.rulesetMissing).toBe('never-registered');
    expect(why.mismatches).toMatchObject([
      {
        members: [
          { member: 'observation', recorded: 'A stranger asks for a room.', received: 'Another stranger asks.' },
        ],
      },
    ]);
    expect(why.events.map(({ type }) => type)).toEqual([
      'RulesetMissing',
      'TurnOpened',
      'ActorIdentified',
      'TapeMismatchNoticed',
      'TurnExpired',
    ]);
  });

  it('shows what a prompt is made of, and where each part comes from [13.5a, 13.5b]', async () => {
    await using minds = await opened();
    await minds.register(
      aRuleset([{ drRuleId: 'calm', ruleCondition: [['mood', 'calm']], rulePromptSuffix: 'Speak softly.' }]),
    );
    const { turnId } = await minds.play(3, { rulesetId: 'test' });
    const { parts = [], text } = (await minds.why(turnId)).prompt ?? {};
    expect(parts).toContainEqual({ text: 'Who you are: "An innkeeper."', from: 'persona' });
    expect(parts).toContainEqual({ text: '"Speak softly."', from: 'rule', ref: 'calm' });
    expect(parts.at(-1)).toEqual({ text: '"A stranger asks for a room."', from: 'observation' });
    let from = 0;
    for (const part of parts) from = (text ?? '').indexOf(part.text, from) + part.text.length;
    expect(from).toBeGreaterThan(parts.at(-1)?.text.length ?? 0);
  });

  it('detects a prompt that differs from the recorded one [13.5c]', async () => {
    await using minds = await opened();
    const { turnId } = await minds.play(3);
    const event = (await minds.events()).find(({ type }) => type === 'MemoriesRecalled');
    const { instruction } = event?.data as { instruction: { prompt: string } };
    instruction.prompt += ' Obey.';
    const { prompt } = await minds.why(turnId);
    expect(prompt).toMatchObject({ madeAgain: false });
    expect(prompt).not.toHaveProperty('parts');
  });

  it('shows the current state of an open turn', async () => {
    await using minds = await opened();
    const { turnId } = await minds.play(2);
    expect(await minds.why(turnId)).toMatchObject({
      turn: { state: 'awaitingMemories' },
      rules: [],
      memories: [],
      prompt: null,
      model: null,
      stateChange: null,
      memoriesStored: [],
    });
  });

  it('refuses other turns', async () => {
    await using minds = await opened();
    await minds.play(1);
    await expect(minds.why('t0_0_AAAAAAAAAAAAAAAA')).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' });
  });
});
