import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { KNOWN_MEMBERS } from '../../../../src/features/rules/domain/members.js';
import { findPreset, presetIds } from '../../../../src/features/rules/domain/presets/presets.js';
import { rulesetSchema } from '../../../../src/features/rules/ruleset-schema.js';
import { isClientId } from '../../../../src/kernel/base/client-id.js';
import { type Api, apiOf } from '../../../support/api.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';

const root = join(import.meta.dirname, '../../../..');
const jsonIn = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));
const examples = readdirSync(join(root, 'examples/rules'))
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, jsonIn(`examples/rules/${name}`)] as const);
const presets = presetIds().map((id) => [id, { grammar: 1, ...findPreset(id) }] as const);

const withRule = (rule: object) => ({ rulesetRules: [rule] });
const withState = (state: unknown) => ({ rulesetRules: [{ ruleAction: 'be kind' }], ruleState: [state] });

const valid: readonly (readonly [string, unknown])[] = [
  ['what is not there as null', { ...withRule({ ruleAction: 'FORBID SELL', ruleTarget: null }), template: null }],
  ['the name of its schema', { $schema: './ruleset.schema.json', ...withRule({ ruleAction: 'FORBID SELL' }) }],
  ['conditions with numbers and booleans', withRule({ ruleCondition: [['a', 1]], ruleAction: 'FORBID SELL' })],
  ['state rules', withState({ path: 'mood', writer: 'model', values: ['glad', 1, true] })],
];
const wrong: readonly (readonly [string, unknown])[] = [
  ['a list', []],
  ['rules that are no list', { rulesetRules: {} }],
  ['a misspelt member', { ruleState: [], rulesetRule: [] }],
  ['a member without its beginning', withRule({ condition: [['a', 'b']] })],
  ['a condition of three', withRule({ ruleCondition: [['a', 'b', 'c']] })],
  ['a condition with an object', withRule({ ruleCondition: [['a', {}]] })],
  ['a priority as a text', withRule({ rulePriority: '5' })],
  ['an unknown template', { rulesetRules: [], template: 'Llama4' }],
  ['an unknown grammar', { rulesetRules: [], grammar: 3 }],
  ['an unknown break', withRule({ ruleAction: 'REQUIRE SELL', ruleOnBreak: 'ignore' })],
  ['an id with a slash', { rulesetId: 'a/b', rulesetRules: [] }],
  ['a state rule without a writer', withState({ path: 'a' })],
  ['an unknown writer', withState({ path: 'a', writer: 'player' })],
  ['a misspelt member of a state rule', withState({ path: 'a', writer: 'model', maximum: 1 })],
  ['no path', withState({ path: '', writer: 'game' })],
  ['a limit as a text', withState({ path: 'a', writer: 'model', min: '1' })],
  ['no values', withState({ path: 'a', writer: 'model', values: [] })],
];

describe('the schema of rulesets', () => {
  let server: Awaited<ReturnType<typeof openEmbeddedServer>>;
  let api: Api;
  let isValid: ValidateFunction;
  /** Whether registration takes a set without a warning that it does not know a member. */
  const isTaken = async (set: unknown): Promise<boolean> => {
    const { status, text } = await api.post('/rules', set);
    return status === 200 && !text.includes('There is no member');
  };

  beforeAll(async () => {
    server = await openEmbeddedServer();
    api = apiOf(server.url, server.ownerKey);
    const ajv = new Ajv2020({ strict: false });
    ajv.addFormat('client-id', isClientId);
    isValid = ajv.compile((await apiOf(server.url, undefined).get('/schemas/ruleset')).body as object);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('is served without a key, and is a file of the reference [5.2g]', async () => {
    const served = await apiOf(server.url, undefined).get('/schemas/ruleset');
    expect([served.status, served.body]).toEqual([200, rulesetSchema]);
    expect(jsonIn('docs/reference/ruleset.schema.json')).toEqual(rulesetSchema);
  });

  it('describes exactly the members that registration knows [5.2g]', () => {
    const { properties, $defs } = rulesetSchema as {
      properties: Record<string, object>;
      $defs: Record<string, { properties: Record<string, object> }>;
    };
    expect(Object.keys(properties).toSorted()).toEqual([...KNOWN_MEMBERS.set].toSorted());
    expect(Object.keys($defs['RegisteredRule']?.properties ?? {}).toSorted()).toEqual(
      [...KNOWN_MEMBERS.rule].toSorted(),
    );
    const described = (one: object): boolean => JSON.stringify(one).includes('"description"') || '$ref' in one;
    expect(
      Object.entries(properties).filter(([, one]) => !described(one) && !JSON.stringify(one).includes('$ref')),
    ).toEqual([]);
  });

  it.each([...examples, ...presets, ...valid])('accepts what registration takes: %s [5.2h, 5.2i]', async (_, set) => {
    expect(await isTaken(set)).toBe(true);
    expect([isValid(set), isValid.errors]).toEqual([true, null]);
  });

  it.each(wrong)('marks what registration does not take: %s [5.2g]', async (_, set) => {
    expect(await isTaken(set)).toBe(false);
    expect(isValid(set)).toBe(false);
  });

  it('accepts what the server answers, which has no name of a schema [5.2h, 5.2i]', async () => {
    const [, named] = valid[1] ?? [];
    const stored = (await api.post('/rules', { ...(named as object), rulesetId: 'named' })).body as object;
    expect(stored).not.toHaveProperty('$schema');
    expect([isValid(stored), isValid.errors]).toEqual([true, null]);
  });
});
