import { describe, expect, it } from 'vitest';

import { scene } from '../../../src/cli/demo/scene.js';

const lines = scene.acts.flatMap((act) => act.lines);
const refusals = lines.flatMap(({ refused }) => (refused === undefined ? [] : [refused]));

describe('the scene of the demo', () => {
  it('has at least forty player lines, spread over each of three characters', () => {
    expect(lines.length).toBeGreaterThanOrEqual(40);
    expect(new Set(lines.map(({ to }) => to))).toEqual(new Set(['maren', 'odo', 'wren']));
  });

  it('gives each character its own rules, registered and from a preset', () => {
    const rules = Object.values(scene.cast).map((member) => member.rules);
    const ids = rules.map((each) => ('preset' in each ? each.preset : each.ruleset.rulesetId));
    expect(new Set(ids).size).toBe(3);
    expect(rules.some((each) => 'preset' in each)).toBe(true);
  });

  it('includes thin and fat clients, and one that drops what the mind adds to the tape', () => {
    const clients = Object.values(scene.cast).map(({ client }) => `${client.mode} ${client.tapes}`);
    expect(clients.sort()).toEqual(['fat returned', 'thin own', 'thin returned']);
  });

  it('refuses at least five actions, for different reasons', () => {
    const reasons = new Set(refusals.map(({ code, rule }) => `${code} ${rule ?? ''}`));
    expect(reasons.size).toBeGreaterThanOrEqual(5);
    expect(reasons.size).toBe(refusals.length);
  });

  it('names only rules of its own sets or presets', () => {
    const own = Object.values(scene.cast).flatMap(({ rules }) =>
      'ruleset' in rules ? (rules.ruleset.rulesetRules ?? []).map(({ drRuleId }) => drRuleId) : ['silenced'],
    );
    expect(own).toEqual(expect.arrayContaining(refusals.flatMap(({ rule }) => (rule === undefined ? [] : [rule]))));
  });

  it('has no line that contains another, because the scripted model matches by line', () => {
    const inside = lines.filter((line) => lines.some((other) => other !== line && other.says.includes(line.says)));
    expect(inside).toEqual([]);
  });

  it('explains a refusal from the scene', () => {
    const { of, says } = scene.asksWhy;
    expect(lines.find((line) => line.to === of && line.says === says)?.refused).toBeDefined();
  });
});
