import { describe, expect, it } from 'vitest';

import { whyTree } from '../../../src/cli/shared/why-tree.js';

const texts = (why: Parameters<typeof whyTree>[0]) => (whyTree(why).below ?? []).map(({ text }) => text);
const decided = { verdict: { valid: true, dialogue: 'Yes.', action: { type: 'SPEAK' } }, ruleset: null, rules: [] };

describe('why, as a tree', () => {
  it('says that a turn was decided without rules, and how it would have had some', () => {
    expect(texts(decided)).toContainEqual(expect.stringMatching(/^decided without rules: .*rulesetId.*default$/));
  });

  it('does not say so of a set that was named, or of a turn that is not decided', () => {
    const of = (why: object) =>
      texts({ ...decided, ...why }).filter((text) => text.startsWith('decided without rules: the turn named no'));
    expect(of({ rulesetMissing: 'markt' })).toEqual([]);
    expect(of({ verdict: null })).toEqual([]);
    expect(of({ ruleset: { rulesetId: 'market', version: 1 }, rules: [{ drRuleId: 'a', matched: true }] })).toEqual([]);
  });
});
