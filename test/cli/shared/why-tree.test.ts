import { describe, expect, it } from 'vitest';

import { whyTree } from '../../../src/cli/shared/why-tree.js';

const texts = (why: Parameters<typeof whyTree>[0]) => (whyTree(why).below ?? []).map(({ text }) => text);
const decided = { verdict: { valid: true, dialogue: 'Yes.', action: { type: 'SPEAK' } }, ruleset: null, rules: [] };

describe('the explanation as a tree', () => {
  it('shows why a condition cannot be decided [5.5u]', () => {
    const condition = { key: 'gold', expected: '<5', holds: false, error: 'it is no number', saw: 'many' };
    const rules = [{ drRuleId: 'poor', matched: true, conditions: [condition] }];
    const tree = whyTree({ ...decided, ruleset: { rulesetId: 'market', version: 1 }, rules });
    expect(JSON.stringify(tree)).toContain('gold <5: cannot be decided, it is no number (found');
  });

  it('says how the server recalled [3.9d]', () => {
    const recall = { embedder: 'use@1', pending: 3, byWords: 'memories' };
    expect(texts({ ...decided, recall })).toContain(
      'recalled nothing, by use@1, 3 without a vector yet, some memories by their words',
    );
    expect(texts({ ...decided, memories: [{}], recall: { embedder: 'use@1', pending: 0 } })).toContain(
      'recalled 1 memory, by use@1',
    );
    expect(texts(decided)).toContain('recalled nothing');
  });

  it('names what a shortened prompt leaves out [13.1f]', () => {
    const leftOut = [
      { from: 'persona', count: 1, inPart: true },
      { from: 'state', count: 3, inPart: false, names: ['ledger', 'hp'] },
      { from: 'context', count: 1, inPart: true, names: ['crowd'] },
      { from: 'memory', count: 1, inPart: false },
      { from: 'memory', count: 3, inPart: true },
      { from: 'conversation', count: 4, inPart: false },
    ];
    const prompt = {
      text: 'p',
      digest: 'abc',
      madeAgain: true,
      parts: [],
      tokens: 440,
      budget: 450,
      isShortened: true,
    };
    expect(JSON.stringify(whyTree({ ...decided, prompt: { ...prompt, leftOut } }))).toContain(
      'LEFT OUT: the end of the persona; the state members ledger, hp, 1 more; parts of the context member crowd; 1 memory; parts of 3 memories; 4 exchanges',
    );
    expect(JSON.stringify(whyTree({ ...decided, prompt }))).not.toContain('LEFT OUT');
  });

  it('shows which rule decided, and what it says [10.2c]', () => {
    const rules = [
      { drRuleId: 'fair', ruleName: 'Fair', ruleAction: 'ALLOW SELL', matched: true, conditions: [] },
      { drRuleId: 'closed', ruleName: '', ruleAction: 'FORBID SELL', matched: true, conditions: [] },
      { drRuleId: 'calm', ruleName: '', ruleAction: 'FORBID ATTACK', matched: false, conditions: [] },
    ];
    const shown = (why: object) => {
      const tree = whyTree({ ...decided, ruleset: { rulesetId: 'market', version: 1 }, rules, ...why });
      return tree.below?.find(({ text }) => text.startsWith('rules of'))?.below?.map(({ text }) => text);
    };
    expect(shown({ decidedBy: 'fair' })).toEqual([
      'fair (Fair) matched and decided: ALLOW SELL',
      'closed matched: FORBID SELL',
      'calm did not match',
    ]);
    expect(shown({})?.[0]).toBe('fair (Fair) matched: ALLOW SELL');
    // It does not match the action that it requires.
    expect(shown({ decidedBy: 'calm', replacedBy: 'calm' })?.[2]).toBe('calm decided: FORBID ATTACK');
  });

  it('shows what replaced an action, and what became of state changes [10.2c]', () => {
    const stateBreaks = [
      { path: 'questDone', onBreak: 'leave_out', reason: 'The game writes it.' },
      { path: 'mood', onBreak: 'clamp', reason: 'It is above 5.', instead: 5 },
      { path: 'hp', onBreak: 'refuse', reason: 'The game writes it.' },
    ];
    const all = JSON.stringify(whyTree({ ...decided, replacedBy: 'alarm', stateBreaks }));
    expect(all).toContain('replaced the action of the model: rule alarm requires another one');
    for (const text of [
      'questDone left out: The game writes it.',
      'mood became 5: It is above 5.',
      'hp refused: The game writes it.',
    ])
      expect(all).toContain(text);
  });

  it('shows the parts of a prompt with their origins, or its lines if there are none [13.5d]', () => {
    const below = (prompt: object) =>
      whyTree({ ...decided, prompt: { text: 'One\n\nTwo', digest: 'd', ...prompt } })
        .below?.find(({ text }) => text.startsWith('prompt of'))
        ?.below?.map(({ text }) => text);
    expect(below({ madeAgain: false })).toEqual(['One', 'Two']);
    const parts = [
      { text: 'One', from: 'persona' },
      { text: '"It\nburned."', from: 'memory', ref: 't1-0' },
    ];
    expect(below({ madeAgain: true, parts })).toEqual(['persona: One', 'memory t1-0: "It burned."']);
  });

  it('reports that a turn was decided without rules, and how to use some', () => {
    expect(texts(decided)).toContainEqual(expect.stringMatching(/^decided without rules: .*rulesetId.*default$/));
  });

  it('shows the state, or says why there is none', () => {
    const of = (why: object) => texts({ ...decided, ...why }).find((text) => text.includes('state'));
    const mind = { revision: 4, persona: 'A baker.', data: {} };
    expect(of({ mind })).toBe('state at revision 4');
    expect(of({ mind: { ...mind, persona: null } })).toBe('state at revision 4: no persona, no data');
    const none = { revision: -1, persona: null, data: null };
    expect(of({ mind: none })).toBe('no state: the NPC had no events before this turn');
    expect(of({ mind: none, verdict: null })).toBe('no state yet');
  });

  it('does not report that for a named set, or for an undecided turn', () => {
    const of = (why: object) =>
      texts({ ...decided, ...why }).filter((text) => text.startsWith('decided without rules: the turn named no'));
    expect(of({ rulesetMissing: 'markt' })).toEqual([]);
    expect(of({ verdict: null })).toEqual([]);
    expect(of({ ruleset: { rulesetId: 'market', version: 1 }, rules: [{ drRuleId: 'a', matched: true }] })).toEqual([]);
  });

  it('names the player who spoke, and who named the player [12.1d]', () => {
    const of = (player: Parameters<typeof whyTree>[0]) => texts({ ...decided, player })[1];
    expect(of({ id: 'ann', from: 'body' })).toBe('player ann (body)');
    expect(of({ id: 'ann', name: 'Ann', from: 'token' })).toBe('player ann "Ann" (token)');
    expect(texts(decided).some((text) => text.startsWith('player'))).toBe(false);
  });

  it('says why a turn failed, and what was wrong in each attempt [10.2d]', () => {
    const failed = {
      verdict: null,
      missingAnswers: [{ attempt: 1, cortexId: 'http', reason: 'It has no words.' }],
      failure: { code: 'CORTEX_NO_ANSWER', reason: 'It has no words.' },
    };
    const all = JSON.stringify(whyTree(failed));
    expect(all).toContain('attempt 1 of http: It has no words.');
    expect(texts(failed)).toContain('no verdict, CORTEX_NO_ANSWER: It has no words.');
    expect(texts({ verdict: null })).toContain('no verdict');
  });
});
