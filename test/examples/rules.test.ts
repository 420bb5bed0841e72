import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { readJsonFile, readJsonOrYaml } from '../../src/cli/shared/files.js';
import { findPreset, presetIds } from '../../src/features/rules/domain/presets/presets.js';
import { normaliseRuleset } from '../../src/features/rules/domain/normalise.js';
import { readRuleTests } from '../../src/features/turns/domain/rule-tests/read-rule-tests.js';
import { runRuleCase } from '../../src/features/turns/domain/rule-tests/run-rule-case.js';
import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { drained } from '../../src/kernel/base/sliced.js';
import { typed } from '../cli/typed.js';

const folder = join(import.meta.dirname, '../../examples/rules');
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length).replaceAll('\\', '/'));
const presets = presetIds().map((presetId) => `presets/${presetId}`);
/** The presets declare no actions, because they are for any game. */
const games = names.filter((name) => !presets.includes(name));
/** How many cases the tests of a preset have at least. */
const PRESET_CASES = 8;
const anima = (...words: readonly string[]) => typed(['rules', ...words], { cwd: folder });
const terminal = { cwd: folder } as Parameters<typeof readJsonFile>[0];

const loaded = async (name: string) => {
  const set = (await readJsonFile(terminal, `${name}.json`)) as JsonObject & { readonly rulesetRules: JsonObject[] };
  const read = drained(readRuleTests((await readJsonOrYaml(terminal, `${name}.test.yaml`)) as Json));
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return { set, cases: read.tests.cases };
};
const normalised = (body: JsonObject) => {
  const content = drained(normaliseRuleset(body, () => 'set'));
  if (content instanceof Rejection) throw content;
  return { ...content, version: 1 };
};

describe('examples/rules', () => {
  it('are three games, and the presets', () => {
    expect(names.toSorted()).toEqual(['guard', 'quest-giver', 'shop', ...presets].toSorted());
  });

  it.each(presets)('are the presets as they are built in, with enough cases: %s [5.3d]', async (name) => {
    const { set, cases } = await loaded(name);
    expect(set).toEqual(findPreset(set['rulesetId'] as string));
    expect(cases.length).toBeGreaterThanOrEqual(PRESET_CASES);
  });

  it.each(names)(
    'can be registered without findings and warnings, and pass their tests: %s [5.3d, 5.13d]',
    async (name) => {
      const checked = await anima('check', `${name}.json`, '--strict');
      expect([checked.code, checked.stdout]).toEqual([
        0,
        expect.stringMatching(/can be registered\. (\d+) of \1 rules judged: 0 findings, 0 warnings\.\n$/) as string,
      ]);
      const { code, stdout } = await anima('test', `${name}.test.yaml`);
      expect([code, stdout]).toEqual([0, expect.not.stringContaining('FAILED')]);
    },
  );

  it.each(names)('need each of their rules, and their state rules: %s', async (name) => {
    const { set, cases } = await loaded(name);
    const failures = (body: JsonObject): number =>
      cases.filter((one) => !drained(runRuleCase(normalised(body), one)).passed).length;
    expect(failures(set)).toBe(0);
    expect(failures({ ...set, ruleState: [] })).toBeGreaterThan(0);
    const idle = set.rulesetRules.filter(
      (rule) => failures({ ...set, rulesetRules: set.rulesetRules.filter((other) => other !== rule) }) === 0,
    );
    expect(idle.map(({ drRuleId }) => drRuleId)).toEqual([]);
  });

  it.each(games)('need each of the actions that they declare: %s', async (name) => {
    const { set, cases } = await loaded(name);
    const actions = set['actions'] as readonly Json[];
    const isNeeded = (left: readonly Json[] | null): boolean => {
      const content = drained(normaliseRuleset({ ...set, actions: left }, () => 'set'));
      // A rule may name it.
      if (content instanceof Rejection) return true;
      return cases.some((one) => !drained(runRuleCase({ ...content, version: 1 }, one)).passed);
    };
    expect(isNeeded(actions)).toBe(false);
    expect(isNeeded(null)).toBe(true);
    expect(actions.filter((action) => !isNeeded(actions.filter((one) => one !== action)))).toEqual([]);
  });

  it.each(names)('have a line for the player in each refusal: %s [5.3d]', async (name) => {
    const { set } = await loaded(name);
    const refused = normalised(set).rulesetRules.filter(
      ({ ruleAction, ruleOnBreak }) => ruleAction.startsWith('FORBID') || ruleOnBreak === 'replace',
    );
    expect(set['ruleRefusal']).toMatch(/[.?!]$/);
    // The line of the set is for what no rule names.
    const lacksLine = refused.filter(
      ({ ruleRefusal, ruleAction, ruleCondition }) =>
        ruleRefusal === undefined && (ruleAction !== 'FORBID *' || ruleCondition.length > 0),
    );
    expect(lacksLine).toEqual([]);
  });
});
