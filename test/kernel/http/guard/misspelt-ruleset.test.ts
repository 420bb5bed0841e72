import { describe, expect, it } from 'vitest';

import { requireRulesetName } from '../../../../src/kernel/http/guard/misspelt-ruleset.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';

const refused = (holder: unknown): unknown => {
  try {
    requireRulesetName(holder, '/tape');
    return null;
  } catch (error) {
    return error instanceof Rejection ? [error.code, error.details] : error;
  }
};

describe('the name of a ruleset in a request', () => {
  it.each([
    ...['rulesetID', 'ruleSetId', 'ruleset_id', 'RULESET-ID', 'rulestId', 'rulesetdI', 'rulesetIds', 'myRulesetId'],
    ...['ruleset', 'ruleSet', 'rulesets', 'rulesetName', 'rulesId'],
  ])('is refused if it only resembles rulesetId: %s [2.1q]', (member) => {
    const details = { member, meant: '/tape/rulesetId' };
    expect(refused({ observation: 'x', [member]: 'gate' })).toEqual(['RULESET_ID_MISSPELT', details]);
    expect(refused({ [member]: 'gate', rulesetId: null })).toEqual(['RULESET_ID_MISSPELT', details]);
    expect(refused({ [member]: null })).toBeNull();
    expect(refused({ [member]: 'gate', rulesetId: 'gate' })).toBeNull();
    expect(refused({ [member]: 'gate', rulesetId: '' })).toBeNull();
  });

  it.each(['rulesetId', 'rules', 'rulers', 'result', 'reset', 'rulesetVersion', 'resultsets', 'x'.repeat(65)])(
    'is accepted: %s',
    (member) => {
      expect(refused({ [member]: 'gate' })).toBeNull();
    },
  );

  it('is looked for in objects alone, and among their first members', () => {
    for (const holder of [undefined, null, 'ruleset', ['ruleset']]) expect(refused(holder)).toBeNull();
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`member${String(n)}`, 1]));
    expect(refused({ ...many, ruleset: 'gate' })).toBeNull();
  });
});
