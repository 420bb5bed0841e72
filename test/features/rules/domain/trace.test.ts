import { describe, expect, it } from 'vitest';

import { coreRules } from '../../../../src/features/rules/domain/bridge/core-rules.js';
import { reachVerdict } from '../../../../src/features/turns/domain/decision/verdict.js';
import { normaliseRuleset } from '../../../../src/features/rules/domain/normalise.js';
import type { DirectiveRule } from '../../../../src/features/rules/domain/ruleset.js';
import { CHECKS_BYTES, TRACE_BYTES } from '../../../../src/features/rules/domain/trace.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { allSlices, anInput, aRuleset } from '../../../support/rules.js';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const times = <Item>(count: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const attack = JSON.stringify({ dialogue: 'Ha!', action: { type: 'ATTACK', target: 'orc' } });
const decide = (rules: readonly Partial<DirectiveRule>[], npcState: JsonObject, context: Json = {}, output = attack) =>
  reachVerdict(anInput({ ruleset: aRuleset(rules), npcState, context }), output);

/** An inventory item of the size that games send. */
const item = (index: number): JsonObject => ({
  id: `item-${index}`,
  name: 'x'.repeat(190),
  note: 'y'.repeat(190),
  tags: times(16, (tag) => `tag ${tag}`),
});

describe('the trace of a decision', () => {
  it('shows the value of each key once, however many rules used it', () => {
    const rules = times(320, (n) => ({
      ruleCondition: [['inventory', `sword-${n}`]] as const,
      ruleAction: 'FORBID ATTACK',
    }));
    const { grounds } = decide(rules, { inventory: times(16, item) });
    expect(grounds.seen).toHaveLength(1);
    expect(grounds.rules).toHaveLength(320);
    expect(bytesOf(grounds)).toBeLessThan(64_000);
  });

  it('marks shortened values, and is the same for the same input', () => {
    const rules = [
      {
        ruleCondition: [
          ['inventory', 'a'],
          ['hp', '5'],
        ] as const,
        ruleAction: 'FLEE',
      },
    ];
    const state = { inventory: times(17, (n) => `thing ${n}`), hp: 5 };
    const { grounds } = decide(rules, state);
    expect(grounds.seen).toEqual([
      { key: 'inventory', value: state.inventory.slice(0, 16), shortened: true },
      { key: 'hp', value: 5 },
    ]);
    expect(JSON.stringify(decide(rules, state).grounds)).toBe(JSON.stringify(grounds));
  });

  it.each<[title: string, value: Json]>([
    ['a long text', 'x'.repeat(201)],
    ['many members', Object.fromEntries(times(17, (n) => [`m${n}`, n]))],
    ['long names', { ['n'.repeat(300)]: 1 }],
    ['deep nesting', { a: { b: { c: { d: 1 } } } }],
    ['a large total', times(16, () => 'x'.repeat(100))],
  ])('marks %s', (_, value) => {
    const [seen] = decide([{ ruleCondition: [['x', '*']], ruleAction: 'FLEE' }], { x: value }).grounds.seen;
    expect(seen?.shortened).toBe(true);
    expect(bytesOf(seen)).toBeLessThan(2_000);
  });

  /** As large as a set may be in every respect that a trace shows: ids and keys of three bytes a character, and of characters that JSON escapes. */
  const widest = (wide: string): readonly Partial<DirectiveRule>[] =>
    times(1_000, (n) => ({
      drRuleId: `${n}${wide.repeat(n < 200 ? 4 : 1)}`,
      ruleCondition: n < 255 ? ([[`k${n}`, '*'] as const, [`k${n}`, `!=${n}`] as const] as const) : [],
      ruleAction: 'FORBID ATTACK',
      rulePriority: n,
      ...(n < 500 ? { ruleObsPattern: 'a' } : {}),
    }));

  it.each(['\u20ac', '\u0001'])(
    'of the largest legal set fits, with every rule and with the one that refused (%j) [1.2y]',
    (wide) => {
      const rules = widest(wide);
      const registered = allSlices(normaliseRuleset({ rulesetRules: rules }, () => 'x')).result;
      expect(registered instanceof Rejection ? registered.details : null).toBeNull();
      const state = Object.fromEntries(times(255, (n) => [`k${n}`, times(16, () => wide.repeat(200))]));
      const { verdict, grounds } = decide(rules, state, {
        worldState: { entities: times(60, () => wide.repeat(500)) },
      });
      expect(bytesOf(grounds)).toBeLessThanOrEqual(TRACE_BYTES);
      expect(grounds.rules).toHaveLength(1_000);
      expect(grounds.rules.filter(({ matched }) => matched).length).toBeGreaterThan(500);
      expect(grounds.rules.map(({ drRuleId }) => drRuleId)).toContain(verdict.details?.['drRuleId']);
      // Values are left out before rules, and counted.
      expect(grounds.seenLeftOut).toBe(255 - grounds.seen.length);
      expect(grounds.seenLeftOut).toBeGreaterThan(0);
    },
  );

  it('shows the values of matching rules first', () => {
    const rules = times(256, (n) => ({
      ruleCondition: [[`k${n}`, n === 255 ? '*' : 'no']] as const,
      ruleAction: 'FORBID ATTACK',
    }));
    const { grounds } = decide(
      rules,
      Object.fromEntries(times(256, (n) => [`k${n}`, times(3, () => '\u0001'.repeat(200))])),
    );
    expect(grounds.seenLeftOut).toBeGreaterThan(0);
    expect(grounds.seen[0]?.key).toBe('k255');
  });

  it('truncates a reason that is as large as a registration', () => {
    const rules = [{ ruleAction: 'FORBID ATTACK', ruleReason: 'x'.repeat(500_000) }];
    const { verdict } = decide(rules, {});
    expect(verdict.code).toBe('RULE_REFUSED');
    expect(bytesOf(verdict)).toBeLessThan(8_000);
  });

  it('has room for the checks of the bridge, whatever the world and the model name', () => {
    const name = '\u0001'.repeat(10_000);
    // The longest action that the bridge examines.
    const said = '\u0001'.repeat(2_000);
    const world = {
      worldState: { entities: times(1_000, () => name) },
      constraints: { allowedActions: times(1_000, () => name), forbiddenActions: times(1_000, () => name) },
    };
    const types = [...new Set(coreRules.flatMap(({ affectedActions }) => affectedActions))].filter(
      (type) => type !== '*',
    );
    expect(types.length).toBeGreaterThan(5);
    for (const type of types) {
      const output = JSON.stringify({ dialogue: '', action: { type, target: said, payload: { item: said } } });
      const { grounds } = decide([], { hp: 0, mana: 0, inventory: times(1_000, () => name) }, world, output);
      expect(grounds.checks.some(({ passed }) => !passed)).toBe(true);
      expect(bytesOf(grounds.checks)).toBeLessThanOrEqual(CHECKS_BYTES);
    }
  });
});
