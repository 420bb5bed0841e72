import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { payloadProblem, schemaProblem } from '../../../../../src/features/rules/domain/actions/check-payload.js';
import type { PayloadSchema } from '../../../../../src/features/rules/domain/actions/payload-schema.js';
import { payloadSchemaProblems } from '../../../../../src/features/rules/domain/actions/read-payload-schema.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';

// Not `__proto__`, which the other validator never finds.
const names = fc.constantFrom('a', 'b', 'constructor', 'toString', '0');
const scalars = fc.constantFrom<Json>('', 'a', 'ab', '𝒜𝒷', '5', true, false, 0, -0, 1, 2, 2.5, -3);
const small = fc.nat({ max: 3 });
const numbers = fc.constantFrom(-3, 0, 1, 2, 2.5);

const valuesOf: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalars,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4 }),
  ),
})).value;
const partly = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc.record(model, { requiredKeys: ['type'] });
const schemas = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.record({ enum: fc.array(scalars, { minLength: 1, maxLength: 4 }), const: scalars }, { requiredKeys: [] }),
    partly({ type: fc.constant('boolean'), description: fc.string() }),
    partly({ type: fc.constant('string'), minLength: small, maxLength: small }),
    partly({
      type: fc.constantFrom('number', 'integer'),
      ...{ minimum: numbers, maximum: numbers, exclusiveMinimum: numbers, exclusiveMaximum: numbers },
    }),
    partly({ type: fc.constant('array'), items: tie('schema'), minItems: small, maxItems: small }),
    fc
      .record({ properties: fc.dictionary(names, tie('schema'), { maxKeys: 3 }), closed: fc.boolean(), count: small })
      .map(({ properties, closed, count }) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).slice(0, count),
        ...(closed ? { additionalProperties: false } : {}),
      })),
  ),
})).schema;

describe('the check of a payload', () => {
  it('accepts what JSON Schema accepts, for each schema that can be declared [5.12f]', () => {
    const ajv = new Ajv2020({ strict: false, ownProperties: true, addUsedSchema: false });
    let [accepted, refused] = [0, 0];
    fc.assert(
      fc.property(
        fc.dictionary(names, schemas, { maxKeys: 3 }),
        fc.array(fc.dictionary(names, valuesOf, { maxKeys: 4 }), { minLength: 5, maxLength: 5 }),
        (properties, payloads) => {
          const schema = { type: 'object', properties, required: Object.keys(properties).slice(0, 1) };
          fc.pre(payloadSchemaProblems(schema as Json).length === 0);
          const isValid = ajv.compile(schema);
          for (const payload of payloads) {
            const expected = isValid(payload);
            if (expected) accepted += 1;
            else refused += 1;
            expect([payloadProblem(payload, schema as PayloadSchema) === null, schema, payload]).toEqual([
              expected,
              schema,
              payload,
            ]);
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(100);
  });

  const sale: PayloadSchema = {
    type: 'object',
    properties: {
      item: { enum: ['rope', 'lantern'] },
      price: { type: 'number', minimum: 1 },
      notes: { type: 'array', items: { type: 'string', maxLength: 3 } },
    },
    required: ['item', 'price'],
    additionalProperties: false,
  };

  it.each<[Json | undefined, string, string]>([
    [undefined, '/item', 'is missing'],
    ['rope', '', 'must be an object'],
    [[], '', 'must be an object'],
    [{ item: 'rope', prise: 3 }, '/price', 'is missing; "prise" is not its name'],
    [{ item: 'crown', price: 1 }, '/item', 'must be "rope" or "lantern"'],
    [{ item: 'rope', price: '1' }, '/price', 'must be a number'],
    [{ item: 'rope', price: null }, '/price', 'must be a number'],
    [{ item: 'rope', price: 0.5 }, '/price', 'must be at least 1'],
    [{ item: 'rope', price: 1, tip: 1 }, '/tip', 'does not belong there'],
    [{ item: 'rope', price: 1, constructor: 1 }, '/constructor', 'does not belong there'],
    [{ item: 'rope', price: 1, notes: ['abc', 'abcd'] }, '/notes/1', 'must have at most 3 characters'],
    [{ item: 'rope', price: 1, 'a/~': 1 }, '/a~1~0', 'does not belong there'],
  ])('says what is wrong and where: %j [5.12o]', (payload, pointer, problem) => {
    expect(payloadProblem(payload, sale)).toEqual({ pointer, problem });
  });

  it('knows own members alone [5.12f]', () => {
    const read = (text: string) => JSON.parse(text) as JsonObject;
    const schema = read(
      '{"type": "object", "properties": {"__proto__": {"type": "number"}}, "required": ["__proto__"]}',
    );
    expect(payloadProblem({}, schema as PayloadSchema)).toMatchObject({ pointer: '/__proto__' });
    expect(payloadProblem(read('{"__proto__": 5}'), schema as PayloadSchema)).toBeNull();
    expect(payloadProblem(read('{"__proto__": {}}'), schema as PayloadSchema)).toMatchObject({
      problem: 'must be a number',
    });
    expect(payloadProblem(read('{"__proto__": {"item": "rope", "price": 1}}'), sale)).toMatchObject({
      pointer: '/item',
    });
  });

  it('refuses more than 4 KiB without looking at them [5.12o]', () => {
    const open: PayloadSchema = { type: 'object' };
    const of = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
    expect(payloadProblem(of(4_096), open)).toBeNull();
    expect(payloadProblem(of(4_097), open)).toEqual({ pointer: '', problem: 'has more than 4096 bytes' });
    expect(payloadProblem({ list: Array<number>(2_040).fill(1) }, open)).toBeNull();
    expect(payloadProblem({ list: Array<number>(100_000).fill(1) }, open)).not.toBeNull();
  });

  it('takes less than a slice for the largest schema and payload [5.12h, 5.12o]', () => {
    const listed = Array.from({ length: 64 }, (_, at) => `value ${String(at)}`);
    const schema = {
      type: 'object',
      properties: { list: { type: 'array', items: { enum: [...listed, 'x'].slice(1) } } },
    };
    expect(payloadSchemaProblems(schema)).toEqual([]);
    const payload = { list: Array<string>(1_000).fill('x') };
    const began = performance.now();
    for (let round = 0; round < 10; round += 1) expect(schemaProblem(payload, schema as PayloadSchema)).toBeNull();
    expect((performance.now() - began) / 10).toBeLessThan(20);
  });
});
