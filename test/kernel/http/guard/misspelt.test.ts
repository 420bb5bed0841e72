import { type TSchema, Type } from '@sinclair/typebox';
import { distance } from 'fastest-levenshtein';
import { describe, expect, it, vi } from 'vitest';

import { ResultSchema } from '../../../../src/features/turns/body-schemas.js';
import { compileMisspelt } from '../../../../src/kernel/http/guard/misspelt.js';

vi.mock('fastest-levenshtein', async (load) => {
  const real = await load<{ distance: typeof distance }>();
  return { distance: vi.fn(real.distance) };
});

const misspelt = (schema: TSchema, body: unknown) => compileMisspelt(schema)(body);
const Inner = Type.Object({ observation: Type.String(), npcState: Type.Optional(Type.Unknown()) });
const Body = Type.Object({
  persona: Type.Optional(Type.String()),
  lastResult: Type.Optional(Type.Union([Inner, Type.Null()])),
  tape: Type.Optional(Inner),
  data: Type.Optional(Type.Object({})),
});

describe('a name similar to a known one', () => {
  it('is reported with the intended name, at any depth that the schema names', () => {
    expect(misspelt(Body, { personality: 'dour', tape: { observations: 'x', npc_state: {} } })).toEqual([
      '/persona',
      '/tape/observation',
      '/tape/npcState',
    ]);
    expect(misspelt(Body, { lastResult: { Observation: 'x' } })).toEqual(['/lastResult/observation']);
  });

  it('is searched for in lists, and in the members for the type of its object [1.2l]', () => {
    const Rules = Type.Object({ rules: Type.Array(Type.Object({ ruleCondition: Type.Optional(Type.Unknown()) })) });
    expect(misspelt(Rules, { rules: [{ ruleConditon: [] }, { rulecondition: [] }] })).toEqual([
      '/rules/-/ruleCondition',
    ]);
    const result = { type: 'IdentifyActorResult', actor: { npcId: 'a', personality: 'dour' } };
    expect(misspelt(ResultSchema, result)).toEqual(['/actor/persona']);
    expect(misspelt(ResultSchema, { type: 'ExecuteInferenceResult', generated_output: '' })).toEqual([
      '/generatedOutput',
    ]);
    expect(misspelt(ResultSchema, { type: 'Weather', generated_output: '' })).toEqual([]);
  });

  it('is ignored if the known one is present, if JSON is free-form, and in anything but objects', () => {
    expect(misspelt(Body, { persona: 'dour', personality: 'dour' })).toEqual([]);
    expect(misspelt(Body, { data: { personality: 'dour' } })).toEqual([]);
    for (const body of [null, 'personality', ['personality'], 7]) expect(misspelt(Body, body)).toEqual([]);
  });

  it('is searched for in every item of a list, however long', () => {
    const Rules = Type.Object({ rules: Type.Array(Type.Object({ ruleCondition: Type.Optional(Type.Unknown()) })) });
    const rules = Array.from({ length: 1_000 }, (_, n) => (n === 999 ? { ruleConditon: [] } : { ruleCondition: [] }));
    expect(misspelt(Rules, { rules })).toEqual(['/rules/-/ruleCondition']);
  });

  it('is matched with a member of that name elsewhere in the body', () => {
    const Two = Type.Object({ tape: Type.Optional(Type.Unknown()), result: Type.Object({ type: Type.String() }) });
    expect(misspelt(Two, { type: 'x', result: { type: 'y' } })).toEqual([]);
  });

  it('is searched for among a bounded number of names [1.2m]', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`n${String(n)}`, n]));
    expect(misspelt(Body, { ...many, personality: 'x' })).toEqual([]);
    expect(misspelt(Body, { personality: 'x', ...many })).toEqual(['/persona']);
    const Named = Type.Object({ list: Type.Array(Type.Object({ name: Type.Optional(Type.String()) })) });
    // The body, its items and the unknown member count.
    const listOf = (items: number) => [...Array.from({ length: items - 1 }, () => ({})), { Name: 'x' }];
    expect(misspelt(Named, { list: listOf(4_998) })).toEqual(['/list/-/name']);
    expect(misspelt(Named, { list: listOf(4_999) })).toEqual([]);
  });

  it('costs a bounded number of comparisons [1.2m]', () => {
    vi.mocked(distance).mockClear();
    const names = Array.from({ length: 64 }, (_, n) => `known${String.fromCharCode(97 + (n % 26))}${n}long`);
    const Many = Type.Object({
      list: Type.Array(Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unknown())])))),
    });
    const list = Array.from({ length: 64 }, (_, row) =>
      Object.fromEntries(names.map((name, n) => [`${name}x${row}${n}`, n])),
    );
    misspelt(Many, { list });
    expect(vi.mocked(distance).mock.calls.length).toBeLessThanOrEqual(5_000);
  });
});
