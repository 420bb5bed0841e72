import { describe, expect, it } from 'vitest';

import { effectIn, readActionWords } from '../../../../src/features/rules/domain/action-words.js';

const read = (ruleAction: string, ruleTarget: string | null = null) => readActionWords({ ruleAction, ruleTarget });
const effect = (kind: string, ...types: string[]) => ({ kind, types, target: null });

describe('the action of a rule in grammar 2', () => {
  it.each<[action: string, expected: object]>([
    ['REQUIRE FLEE', effect('require', 'FLEE')],
    ['require flee, Hide', effect('require', 'FLEE', 'HIDE')],
    ['FLEE', effect('require', 'FLEE')],
    [' FLEE ', effect('require', 'FLEE')],
    ['ALLOW SELL', effect('allow', 'SELL')],
    ['Allow sell,give', effect('allow', 'SELL', 'GIVE')],
    ['ALLOW *', effect('allow', '*')],
    ['ALLOW ALL', effect('allow', '*')],
    ['FORBID SELL', effect('forbid', 'SELL')],
    ['forbid SELL, sell', effect('forbid', 'SELL')],
    ['FORBID *', effect('forbid', '*')],
    ['FORBID ALL', effect('forbid', '*')],
    ['forbid all', effect('forbid', '*')],
  ])('is a verb with action types: %s [5.6a, 5.6b]', (action, expected) => {
    expect(read(action)).toEqual(expected);
  });

  it('has the target of its rule, whatever the verb [5.6c]', () => {
    for (const action of ['REQUIRE GUARD', 'ALLOW GUARD', 'FORBID GUARD', 'GUARD'])
      expect(read(action, 'gate')).toMatchObject({ target: 'gate' });
    expect(read('FORBID GUARD', '')).toMatchObject({ target: null });
  });

  it.each<[action: string]>([
    ['refuse politely'],
    ['forbid every fight'],
    ['Greet TOM'],
    ['sell'],
    ['Never sell to strangers.'],
    ['ПОМОГИ МНЕ'],
    ['売らない'],
  ])('is otherwise a sentence for the prompt: %s [5.6e]', (action) => {
    expect(read(action)).toEqual({ kind: 'say', sentence: action });
    expect(read('  ')).toEqual({ kind: 'none' });
  });

  it.each<[action: string, meant: string | undefined]>([
    ['DENY SELL', 'FORBID SELL'],
    ['FORBD MOVE', 'FORBID MOVE'],
    ['FORBIDS MOVE', 'FORBID MOVE'],
    ['forbd MOVE', 'FORBID MOVE'],
    ['never ATTACK', 'FORBID ATTACK'],
    ['DISALLOW SELL', 'FORBID SELL'],
    ['PERMIT SELL', 'ALLOW SELL'],
    ['ALOW SELL', 'ALLOW SELL'],
    ['MUST FLEE', 'REQUIRE FLEE'],
    ['REQIURE FLEE', 'REQUIRE FLEE'],
    ['FORBID SELL BUY', 'FORBID SELL, BUY'],
    ['FORBID SELL and BUY', 'FORBID SELL, BUY'],
    ['FORBID SELL,', 'FORBID SELL'],
    ['ATTACK, MOVE', 'REQUIRE ATTACK, MOVE'],
    ['FLEE!', 'FLEE'],
    ['HELP ME', undefined],
    ['forbd sell', 'FORBID SELL'],
    ['frobid sell, give', 'FORBID SELL, GIVE'],
    ['FORBID_SELL', 'FORBID SELL'],
    ['FORBID', 'FORBID *'],
    ['ALLOW', undefined],
    ['require', undefined],
    ['*', 'FORBID *'],
    ['ALL', 'FORBID *'],
    ['REQUIRE *', undefined],
    ['REQUIRE ALL', undefined],
    [`FORBID ${Array.from({ length: 65 }, (_, n) => `T${n}`).join(', ')}`, undefined],
  ])('is refused if it looks like an order: %s [5.6d]', (action, meant) => {
    const { message, ...rest } = read(action) as { message: string };
    expect(message).toMatch(/\.$/);
    expect(rest).toEqual(meant === undefined ? {} : { meant });
  });

  it('is a sentence, read at once, if it is long', () => {
    for (const action of [`${'.'.repeat(200_000)}x y`, 'a'.repeat(200_000), 'A '.repeat(100_000), '!'.repeat(200_000)])
      expect(read(action)).toMatchObject({ kind: 'say' });
  });

  it('is read as before in grammar 1', () => {
    const rule = { ruleAction: 'FLEE', ruleTarget: null };
    expect(effectIn(1, rule)).toEqual({ kind: 'direct', type: 'FLEE', target: null });
    expect(effectIn(1, { ...rule, ruleAction: 'ALLOW SELL' })).toEqual({ kind: 'say', sentence: 'ALLOW SELL' });
    expect(effectIn(2, rule)).toEqual(effect('require', 'FLEE'));
  });
});
