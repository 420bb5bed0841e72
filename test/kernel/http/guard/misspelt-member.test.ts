import { describe, expect, it } from 'vitest';

import {
  decidingMembers,
  requireMemberNames,
  requireRulesetPlace,
} from '../../../../src/kernel/http/guard/misspelt-member.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';

const refused = (holder: unknown, known: readonly string[] = ['context', 'npcState']): unknown => {
  try {
    requireMemberNames(holder, '/tape', decidingMembers(known));
    return null;
  } catch (error) {
    return error instanceof Rejection ? [error.code, error.details] : error;
  }
};

describe('the name of a member that decides', () => {
  it.each([
    ...['rulesetID', 'ruleSetId', 'ruleset_id', 'RULESET-ID', 'rulestId', 'rulesetdI', 'rulesetIds', 'myRulesetId'],
    ...['ruleset', 'ruleSet', 'rulesets', 'rulesetName', 'rulesId', 'rulset', 'rule_set', 'rules', 'ruleId', 'setId'],
  ])('is refused if it only resembles rulesetId: %s [2.1q]', (member) => {
    const details = { member, meant: '/tape/rulesetId' };
    expect(refused({ observation: 'x', [member]: 'gate' })).toEqual(['MEMBER_MISSPELT', details]);
    expect(refused({ [member]: 'gate', rulesetId: null })).toEqual(['MEMBER_MISSPELT', details]);
    expect(refused({ [member]: null })).toBeNull();
    expect(refused({ [member]: 'gate', rulesetId: 'gate' })).toBeNull();
    expect(refused({ [member]: 'gate', rulesetId: '' })).toEqual(['MEMBER_MISSPELT', details]);
  });

  it.each(['rulesetId', 'rulers', 'result', 'reset', 'rulesetVersion', 'resultsets', 'x'.repeat(65)])(
    'is accepted: %s',
    (member) => {
      expect(refused({ [member]: 'gate' })).toBeNull();
    },
  );

  it('is no id if it holds rules', () => {
    expect(refused({ rules: [] })).toBeNull();
  });

  it('is refused where the id would be ignored [2.1q]', () => {
    const placed = (body: Json | undefined, pointer: '' | '/tape'): unknown => {
      try {
        requireRulesetPlace(body, pointer);
        return null;
      } catch (error) {
        return error instanceof Rejection ? [error.code, error.details] : error;
      }
    };
    const rulesetId = 'gate';
    const misplaced = (member: string, meant: string) => ['MEMBER_MISSPELT', { member, meant }];
    expect(placed({ rulesetId, tape: {} }, '/tape')).toEqual(misplaced('/rulesetId', '/tape/rulesetId'));
    expect(placed({ tape: { context: { rulesetId } } }, '/tape')).toEqual(
      misplaced('/tape/context/rulesetId', '/tape/rulesetId'),
    );
    expect(placed({ tape: { rulesetId } }, '')).toEqual(misplaced('/tape/rulesetId', '/rulesetId'));
    expect(placed({ context: { rulesetId } }, '')).toEqual(misplaced('/context/rulesetId', '/rulesetId'));
    expect(placed({ rulesetId, tape: { rulesetId } }, '/tape')).toBeNull();
    for (const body of [{ tape: {} }, { rulesetId: null }, { rulesetId: '' }, { tape: 'x' }, null, undefined])
      expect(placed(body, '/tape')).toBeNull();
  });

  it.each([
    ['contxt', '/tape/context'],
    ['Context', '/tape/context'],
    ['contexts', '/tape/context'],
    ['npc_state', '/tape/npcState'],
    ['npcSate', '/tape/npcState'],
  ])('is refused if it only resembles another member that decides: %s [2.1q]', (member, meant) => {
    expect(refused({ [member]: {} })).toEqual(['MEMBER_MISSPELT', { member, meant }]);
    expect(refused({ [member]: {}, context: {}, npcState: {} })).toBeNull();
    expect(refused({ [member]: null })).toBeNull();
    // A body that has no such member cannot mean it.
    expect(refused({ [member]: {} }, [])).toBeNull();
  });

  it.each(['content', 'state', 'worldState', 'npcStats', 'ctxMessages', 'npcId', 'constructor'])(
    'is accepted where it is another word: %s',
    (member) => {
      expect(refused({ [member]: {} })).toBeNull();
    },
  );

  it('is looked for in objects alone, and among their first members', () => {
    for (const holder of [undefined, null, 'ruleset', ['ruleset']]) expect(refused(holder)).toBeNull();
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`member${String(n)}`, 1]));
    expect(refused({ ...many, ruleset: 'gate' })).toBeNull();
  });
});
