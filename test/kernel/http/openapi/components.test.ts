import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { documentedAs, named } from '../../../../src/kernel/http/named.js';
import { Components } from '../../../../src/kernel/http/openapi/components.js';
import { nullable } from '../../../../src/kernel/http/schemas.js';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const Room = named('Room', Type.Object({ name: Type.String(), beds: Type.Optional(Type.Integer()) }));
const Inn = named('Inn', Type.Object({ rooms: Type.Array(Room), best: nullable(Room) }));

describe('the components of a document', () => {
  it('contain each named schema once, with references to it', () => {
    const components = new Components();
    expect(plain(components.response(Inn))).toEqual(reference('Inn'));
    expect(plain(components.response(Type.Array(Room)))).toEqual({ type: 'array', items: reference('Room') });
    expect(plain(components.schemas)).toEqual({
      Inn: {
        type: 'object',
        required: ['rooms'],
        properties: {
          rooms: { type: 'array', items: reference('Room') },
          best: { anyOf: [reference('Room'), { type: 'null' }] },
        },
      },
      Room: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, beds: { type: 'integer' } },
      },
    });
  });

  it('keep a description of a use next to the reference', () => {
    const use = { ...Room, description: 'The one under the roof.' };
    expect(plain(new Components().response(use))).toEqual({
      ...reference('Room'),
      description: 'The one under the roof.',
    });
  });

  it('allow null in optional members of requests, in a separate schema if responses use it too', () => {
    const alone = new Components();
    expect(plain(alone.request(Room))).toEqual(reference('Room'));
    expect(plain(alone.schemas)).toMatchObject({ Room: { properties: { beds: { type: ['integer', 'null'] } } } });

    const both = new Components();
    both.response(Room);
    expect(plain(both.request(Inn))).toEqual(reference('Inn'));
    expect(plain(both.schemas)).toMatchObject({
      Inn: { properties: { rooms: { items: reference('RoomInput') } } },
      Room: { properties: { beds: { type: 'integer' } } },
      RoomInput: { properties: { beds: { type: ['integer', 'null'] } } },
    });
  });

  it('show the documented form of a schema instead of the schema', () => {
    const checked = documentedAs(Room, Type.Object({}));
    const components = new Components();
    expect(plain(components.response(checked))).toEqual(reference('Room'));
    expect(plain(components.response(Type.Object({ room: nullable(checked) })))).toMatchObject({
      properties: { room: { anyOf: [reference('Room'), { type: 'null' }] } },
    });
  });

  it('reject two schemas with the same name', () => {
    const components = new Components();
    components.response(Room);
    components.response(named('Room', Type.Object({ name: Type.String(), beds: Type.Optional(Type.Integer()) })));
    expect(() => components.response(named('Room', Type.String()))).toThrow('two schemas are named Room');
  });
});
