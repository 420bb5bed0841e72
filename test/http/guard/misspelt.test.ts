import { type TSchema, Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { ResultSchema } from '../../../src/http/routes/process/tape.js';
import { compileMisspelt, isAlike } from '../../../src/http/guard/misspelt.js';

const misspelt = (schema: TSchema, body: unknown) => compileMisspelt(schema)(body);
const Inner = Type.Object({ observation: Type.String(), npcState: Type.Optional(Type.Unknown()) });
const Body = Type.Object({
  persona: Type.Optional(Type.String()),
  lastResult: Type.Optional(Type.Union([Inner, Type.Null()])),
  tape: Type.Optional(Inner),
  data: Type.Optional(Type.Object({})),
});

describe('a name that looks like a known one', () => {
  it.each([
    ['personality', 'persona'],
    ['result', 'lastResult'],
    ['last_result', 'lastResult'],
    ['OBSERVATION', 'observation'],
    ['observaton', 'observation'],
    ['identifyActorResult', 'IdentifyActorResult'],
    ['txid', 'txId'],
    ['texts', 'text'],
    ['presona', 'persona'],
    ['qurey', 'query'],
  ])('%s is like %s', (written, known) => {
    expect(isAlike(written, known)).toBe(true);
  });

  it.each([
    ['mood', 'persona'],
    ['name', 'npcId'],
    ['type', 'tape'],
    ['', 'persona'],
    ['__', 'persona'],
    ['id', 'npcId'],
    ['persona'.repeat(20), 'persona'],
  ])('%s is not like %s', (written, known) => {
    expect(isAlike(written, known)).toBe(false);
  });

  it('is named by what was meant, at any depth that the schema names', () => {
    expect(misspelt(Body, { personality: 'dour', tape: { observations: 'x', npc_state: {} } })).toEqual([
      '/persona',
      '/tape/observation',
      '/tape/npcState',
    ]);
    expect(misspelt(Body, { lastResult: { Observation: 'x' } })).toEqual(['/lastResult/observation']);
  });

  it('is looked for in lists, and in what an object of its type has', () => {
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

  it('is left alone where the known one is there, where JSON is free, and in what is no object', () => {
    expect(misspelt(Body, { persona: 'dour', personality: 'dour' })).toEqual([]);
    expect(misspelt(Body, { data: { personality: 'dour' } })).toEqual([]);
    for (const body of [null, 'personality', ['personality'], 7]) expect(misspelt(Body, body)).toEqual([]);
  });

  it('is looked for among a bounded number of names', () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`n${String(n)}`, n]));
    expect(misspelt(Body, { ...many, personality: 'x' })).toEqual([]);
  });
});
