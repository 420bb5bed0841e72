import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { compileDropNulls } from '../../../src/kernel/http/guard/null-members.js';
import { checkOf } from '../../../src/kernel/http/guard/schema-check.js';
import { resultOf, ResultSchema, rulesetIdOf, tapeOf, TapeSchema } from '../../../src/features/turns/body-schemas.js';
import { nullable } from '../../../src/kernel/http/schemas.js';

const Body = Type.Object({ tape: TapeSchema, lastResult: nullable(ResultSchema) });
const check = checkOf('body', Body);
const dropNulls = compileDropNulls(Body);

/** A body after the guards: `null` members dropped, then validated against the schema. */
const guarded = (body: object) => {
  const copy = structuredClone(body) as { tape: never; lastResult?: never };
  dropNulls?.(copy);
  const problems = check(copy);
  if (problems !== null) throw new Error(problems.map(({ pointer, message }) => `${pointer} ${message}`).join('; '));
  return { tape: tapeOf(copy.tape), result: resultOf(copy.lastResult) };
};
const tape = (members: object = {}) => guarded({ tape: { observation: 'Rain.', ...members } }).tape;
const result = (lastResult: unknown) => guarded({ tape: { observation: '' }, lastResult }).result;

const least = { observation: 'Rain.', context: {}, npcState: {}, memories: [], vectorQueried: false, extra: {} };
const memory = { text: 'It rained.', type: 'experience', importance: 0.9, similarity: 0.4 };

describe('a memory that a body sends', () => {
  it('keeps the id that this server gave it, whatever else the body calls an id [10.12p]', () => {
    const idOf = (more: object) => tape({ memories: [{ text: 'It rained.', ...more }] }).memories[0]?.memoryId;
    const ours = 't0_mwzc2plu_ec8YARhP57I4Qu2t-0';
    expect([idOf({ id: ours }), idOf({ id: 7, memoryId: ours })]).toEqual([ours, ours]);
    expect(idOf({ id: 'm0_mwzc2plu_ec8YARhP57I4Qu2t' })).toBe('m0_mwzc2plu_ec8YARhP57I4Qu2t');
    for (const other of ['m1', 7, {}, `${ours}-1`, '01a21e3e-52dc-8f73-9b1c-0d2f4a6b8c1e-0'])
      expect(idOf({ id: other, memoryId: other })).toBeUndefined();
  });
});

describe('a result with a missing member', () => {
  it('is refused with that member as its only issue', () => {
    const body = { tape: { observation: '' }, lastResult: { type: 'ExecuteInferenceResult' } };
    expect(check(body)).toEqual([{ in: 'body', pointer: '/lastResult/generatedOutput', message: 'is missing' }]);
  });
});

describe('a tape', () => {
  it('requires only an observation [2.2b]', () => {
    expect(tape()).toEqual(least);
    expect(() => guarded({ tape: {} })).toThrow('/tape/observation is missing');
  });

  it('is read with every optional member [2.2b]', () => {
    const members = {
      turnId: 't0_0_aaaaaaaaaaaaaaaa',
      context: ['any', { json: null }],
      npcState: { hp: 3, mood: null },
      persona: '',
      actor: { npcId: 'mira', persona: 'Calm.', data: { hp: 3 } },
      memories: [memory],
      vectorQueried: true,
      generatedOutput: '',
      rulesetId: 'inn',
    };
    expect(tape(members)).toEqual({ ...least, ...members });
  });

  it('treats null as absent in every known member', () => {
    const nulls = Object.fromEntries(
      ['context', 'npcState', 'persona', 'actor', 'memories', 'prompt', 'constraints', 'generatedOutput']
        .concat(['rulesetId', 'vectorQueried', 'turnId'])
        .map((name) => [name, null]),
    );
    expect(tape(nulls)).toEqual(least);
  });

  it('keeps unknown members, null included, and drops those that are derived from the record [2.2c]', () => {
    expect(tape({ mine: null, other: { a: 1 }, prompt: 'old', constraints: { maxTokens: 5 } }).extra).toEqual({
      mine: null,
      other: { a: 1 },
    });
  });

  it('completes memories and actors with defaults', () => {
    expect(tape({ memories: [{ text: 'It rained.' }, { text: '', type: null, importance: 0 }] }).memories).toEqual([
      { text: 'It rained.', type: 'observation', importance: 0.5, similarity: 0 },
      { text: '', type: 'observation', importance: 0, similarity: 0 },
    ]);
    expect(tape({ actor: { npcId: 'mira', persona: null } }).actor).toEqual({ npcId: 'mira', persona: null, data: {} });
  });

  it.each(['', 'a b', '../t1', 'x'.repeat(129), 'ü'])('ignores an illegal turn id: %j', (turnId) => {
    expect(tape({ turnId })).not.toHaveProperty('turnId');
  });

  it.each([
    ['observation', 5],
    ['observation', null],
    ['npcState', []],
    ['actor', { persona: 'Calm.' }],
    ['actor', 'mira'],
    ['memories', [{ importance: 1 }]],
    ['memories', ['It rained.']],
    ['memories', Array.from({ length: 1_001 }, () => memory)],
    ['vectorQueried', 'yes'],
    ['generatedOutput', {}],
    ['turnId', 7],
    ['persona', 5],
    ['rulesetId', 5],
  ])('is refused when its %s is malformed [2.2b]', (name, value) => {
    expect(() => tape({ [name]: value })).toThrow(`/tape/${name}`);
  });
});

describe('the ruleset of a tape', () => {
  it('is none if it is absent, null or empty', () => {
    expect([undefined, null, ''].map(rulesetIdOf)).toEqual([undefined, undefined, undefined]);
    expect(rulesetIdOf('the inn')).toBe('the inn');
  });

  it.each(['a/b', '..', ' a', 'a\n', 'x'.repeat(129)])('is refused if it is not a legal id: %j', (rulesetId) => {
    expect(() => tape({ rulesetId })).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
  });
});

describe('the last result', () => {
  it('is read as received, with defaults for missing members [2.2e]', () => {
    expect(result({ type: 'IdentifyActorResult', actor: { npcId: 'mira' } })).toEqual({
      type: 'IdentifyActorResult',
      actor: { npcId: 'mira', persona: null, data: {} },
    });
    expect(result({ type: 'QueryVectorResult', memories: [memory, { text: 'a' }], more: 1 })).toEqual({
      type: 'QueryVectorResult',
      memories: [memory, { text: 'a', type: 'observation', importance: 0.5, similarity: 0 }],
    });
    expect(result({ type: 'ExecuteInferenceResult', generatedOutput: '' })).toEqual({
      type: 'ExecuteInferenceResult',
      generatedOutput: '',
    });
  });

  it('is none if it is absent or null, and unknown if its type is not in the protocol [2.2a]', () => {
    expect([result(undefined), result(null)]).toEqual([null, null]);
    for (const type of ['FinalizeResult', '', 'constructor']) expect(result({ type, actor: 5 })).toBe('unknown');
  });

  it.each([
    ['without a type', {}],
    ['that is not an object', 'IdentifyActorResult'],
    ['without its actor', { type: 'IdentifyActorResult' }],
    ['with a malformed actor', { type: 'IdentifyActorResult', actor: { npcId: 5 } }],
    ['without its memories', { type: 'QueryVectorResult' }],
    ['with malformed memories', { type: 'QueryVectorResult', memories: [{}] }],
    ['without its output', { type: 'ExecuteInferenceResult' }],
    ['with a malformed output', { type: 'ExecuteInferenceResult', generatedOutput: 5 }],
    ['with null for a required member', { type: 'ExecuteInferenceResult', generatedOutput: null }],
  ])('%s is refused [2.6l]', (_, lastResult) => {
    expect(() => result(lastResult)).toThrow('/lastResult');
  });
});
