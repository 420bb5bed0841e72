import { describe, expect, it } from 'vitest';

import { readCel } from '../../../../../../src/features/rules/domain/conditions/cel/read-cel.js';
import { isProblem, type Problem } from '../../../../../../src/features/rules/domain/conditions/problem.js';

const problemOf = (text: string): Problem | null => {
  const read = readCel(text);
  return isProblem(read) ? read : null;
};

describe('an expression', () => {
  it.each<[written: string, character: number, meant: string]>([
    ['state.hp > 5 and state.mp > 5', 14, 'state.hp > 5 && state.mp > 5'],
    ['state.hp > 5 OR not state.dead', 14, 'state.hp > 5 || !state.dead'],
    ['state.gold = 5', 12, 'state.gold == 5'],
    ['state.gold === 5', 12, 'state.gold == 5'],
    ['state.gold <> 5', 12, 'state.gold != 5'],
    ['state.gold ≥ 5;', 12, 'state.gold >= 5'],
    ['state.a == 1 & state.b == 2', 14, 'state.a == 1 && state.b == 2'],
    ['state.a == 1 | state.b == 2', 14, 'state.a == 1 || state.b == 2'],
    ['state.name == “Mira and Tom”', 15, 'state.name == "Mira and Tom"'],
    ['state.name == ‘Mira’', 15, 'state.name == "Mira"'],
    ['stat.hp > 5', 1, 'state.hp > 5'],
    ['contxt.hour > 5', 1, 'context.hour > 5'],
    ['npcState.hp > 5', 1, 'state.hp > 5'],
    ['hp > 5 && gold > 3', 1, 'state.hp > 5 && state.gold > 3'],
    ['state.mood == angry', 15, 'state.mood == "angry"'],
    ['state.gate-key == 1', 6, 'state["gate-key"] == 1'],
    ['state.open == True', 15, 'state.open == true'],
    ['state.owner == None', 16, 'state.owner == null'],
    ['state.bag.exist(x, x == "key")', 11, 'state.bag.exists(x, x == "key")'],
    ['state.bag.some(x, x == "key")', 11, 'state.bag.exists(x, x == "key")'],
    ['state.name.toLowerCase() == "mira"', 12, 'state.name.lowerAscii() == "mira"'],
    ['len(state.bag) > 2', 1, 'size(state.bag) > 2'],
    ['state.n == 5u', 12, 'state.n == 5'],
    ['state.t == b"x"', 12, 'state.t == "x"'],
    ['action.tpye == "SELL"', 8, 'action.type == "SELL"'],
    ['action.type == "sell"', 17, 'action.type == "SELL"'],
    ['action.type in ["GIVE", "Sell"]', 26, 'action.type in ["GIVE", "SELL"]'],
    ['state.open', 1, 'state.open == true'],
    ['"🗝" in inventory', 8, '"🗝" in state.inventory'],
  ])('is refused with the place and what was meant: %s [5.11c, 5.11d]', (written, character, meant) => {
    const found = problemOf(written);
    expect(found?.meant).toBe(meant);
    expect(found?.message).toMatch(new RegExp(`^Character ${character}: .+\\.$`));
    expect(problemOf(meant)).toBeNull();
  });

  it.each<[written: string, message: string]>([
    [' ', 'Character 1: The expression is empty.'],
    ['(state.gold > 1', 'Character 16: ")" is missing.'],
    ['state.gold > 1)', 'Character 15: ")" cannot be here.'],
    ['state.gold >', 'Character 13: The expression ends too early.'],
    ["state.name == 'x", 'Character 15: The text has no closing quote.'],
    ['state.in == 1', 'Character 7: The name of a member is missing.'],
    ['package == 1', 'Character 1: "package" is a reserved word.'],
    ['state.a not in state.b', 'Character 9: "not in" is not an operator of CEL. Write !(x in list).'],
    ['not state.a == 1', 'Character 1: "not" is not an operator of CEL.'],
    [
      'state.bag.includes("key")',
      'Character 11: "includes" is not a function of CEL. Write x in list, or text.contains(x).',
    ],
    ['9223372036854775808 > 1', 'Character 1: The number is too large.'],
    ['size() > 1', 'Character 1: size is written size(x).'],
    ['contains(observation, "x")', 'Character 1: contains is written x.contains(y).'],
    ['has(state)', 'Character 1: has takes a member, as in has(state.quest).'],
    ['exists(x, x == 1)', 'Character 1: exists belongs behind a list, as in state.bag.exists(x, x > 1).'],
    ['state.bag.exists(x)', 'Character 11: exists takes a name and a condition, as in exists(x, x > 1).'],
    ['state.bag.all(state, true)', 'Character 15: "state" is a root. Give the elements another name.'],
    ['toString == 1', 'Character 1: "toString" is not a root. Write state.toString for a member of the state.'],
  ])('is refused in plain words: %s [5.11c]', (written, message) => {
    expect(problemOf(written)?.message).toBe(message);
  });

  it.each<[written: string, message: string]>([
    ["'a' + 1 == 'b'", 'Character 1: These types do not go together: text + whole number.'],
    ['state > 5', 'Character 1: These types do not go together: object > whole number.'],
    ['observation.contains(5)', 'Character 1: These types do not go together: text.contains(whole number).'],
    ['[].exists(x, x == 1)', 'Character 1: The types of its parts cannot be told.'],
    ['has(state.bag[0].qty)', 'Character 5: has takes names alone, as in has(state.quest.done).'],
    ["true ? 1 == 1 : 'a'", 'Character 1: Both results of ? and : must have the same type.'],
    ['state.a == 1 && 5', 'Character 1: && and || stand between what is true or false.'],
    ['state.bag.all(x, 5)', 'Character 18: The condition must be true or false.'],
    ['observation.length == 1', 'Character 13: This has no members.'],
    ['state.gold + 1', 'Character 1: The expression must be true or false, but its result may be anything else.'],
  ])('is refused if its types cannot be right: %s [5.11d]', (written, message) => {
    expect(problemOf(written)?.message).toBe(message);
  });

  it.each<[written: string, character: number]>([
    ['["SELLL", "BUY"].exists(t, t == action.type)', 40],
    ['state.types.exists(t, t == action.type)', 35],
    ['action.type.startsWith("sell")', 8],
    ['action.type.lowerAscii() == "sell"', 8],
    ['action.type == (state.open == true ? "selll" : "BUY")', 8],
    ['(state.open == true ? action.type : "x") == "selll"', 30],
    ['action["type"] == "SE" + "LLL"', 8],
    ['["SELLL", "BUY"][0] == action.type', 31],
    ['action.type in ["SELL", state.name]', 8],
    ['"SELLL" in [action.type]', 20],
    ['action.type == 5 || action.type < "SELLL"', 8],
  ])('is refused if it could compare action.type with anything unnoticed: %s [5.11d]', (written, character) => {
    const direct = 'action.type is compared directly: action.type == "SELL", or action.type in ["SELL", "BUY"].';
    expect(problemOf(written)?.message).toBe(`Character ${character}: ${direct}`);
  });

  it.each<[written: string, character: number]>([
    ['[action].exists(a, a.type == "SELLL")', 2],
    ['[action][0].type == "SELLL"', 2],
    ['(state.open == true ? action : after).type == "SELLL"', 23],
    ['action[state.name] == "SELLL"', 1],
    ['state.a == action', 12],
  ])('is refused if it could read the type of the action under another name: %s [5.11d]', (written, character) => {
    expect(problemOf(written)?.message).toBe(
      `Character ${character}: action is read by its members, such as action.type.`,
    );
  });

  it.each([
    '"payload" in action && has(action.target)',
    'action.type != "SELL" && "BUY" == action.type || !(action.type in ["SELL", "BUY"])',
    'has(action.type) && action.type in context.allowed',
    'state.last == action.type || state.log[0].type == action.type || action.type == context["last one"]',
    'state.log.exists(one, one.type == action.type)',
  ])('may compare action.type with types and members: %s [5.11d]', (written) => {
    expect(problemOf(written)).toBeNull();
  });

  it.each([
    "observation.matches('(a+)+b')",
    "matches(observation, 'a')",
    'state.l.map(x, x) == [1]',
    "observation.split(',') == ['a']",
    "state.l.join(',') == 'a'",
    "timestamp('2020-01-01T00:00:00Z') == timestamp('2020-01-01T00:00:00Z')",
    "duration('1s') == duration('1s')",
    "bytes('a') == bytes('a')",
    'type(state.a) == int',
    'dyn(state.a) == 1',
    'uint(1) == uint(1)',
    "string(1) == '1'",
    "'a'.upperAscii() == 'A'",
    "'abc'.substring(1) == 'bc'",
    "'abc'.indexOf('b') == 1",
    'cel.bind(x, 1, x == 1)',
    'google.protobuf.Timestamp == state.a',
    "{'a': 1} == state.a",
    "b'a' == b'a'",
    '1u == 1u',
    'state.?a == 1',
    'state[?0] == 1',
  ])('cannot use the rest of CEL: %s [5.11f]', (written) => {
    expect(problemOf(written)?.message).toMatch(/^Character \d+: /);
  });

  it('has no loop in a loop [5.11j]', () => {
    const message = expect.stringContaining('cannot be in one another') as string;
    expect(problemOf('state.a.exists(x, x.b.all(y, y == 1))')).toEqual({ message });
    expect(problemOf('state.a.filter(x, state.b.exists(y, y == x)).size() > 1')).toEqual({ message });
    expect(problemOf('state.a.filter(x, x > 1).exists(y, y > 2) && state.b.all(z, z > 1)')).toBeNull();
  });

  it('is limited in bytes, nodes and levels [5.11e]', () => {
    expect(problemOf(`state.a == "${'é'.repeat(494)}"`)).toEqual({
      message: 'The expression has 1001 bytes, but may have 1000.',
    });
    expect(problemOf(`state.a == "${'x'.repeat(987)}"`)).toBeNull();
    const conditions = (count: number): string => Array.from({ length: count }, () => '1 == 2').join(' && ');
    expect(problemOf(conditions(25))).toBeNull();
    expect(problemOf(`${conditions(25)} && true`)?.message).toMatch(/has 101 nodes, but may have 100/);
    expect(problemOf(`${'!'.repeat(12)}true`)).toBeNull();
    expect(problemOf(`${'!'.repeat(13)}true`)?.message).toMatch(/has 13 levels, but may have 12/);
    expect(problemOf(`state${'.a'.repeat(50)} == 1`)).toBeNull();
    expect(problemOf(`${'('.repeat(100)}true${')'.repeat(100)}`)?.message).toMatch(/too many levels/);
  });
});
