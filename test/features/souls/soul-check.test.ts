import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';

import { readSoul } from '../../../src/features/souls/soul-check.js';
import { signSoul } from '../../../src/features/souls/soul-signer.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { isObject, type Json, type JsonObject } from '../../../src/kernel/base/json.js';
import {
  MAX_PART_BYTES,
  MAX_SOUL_BYTES,
  MAX_SOUL_LINKS,
  MAX_SOUL_MEMORIES,
} from '../../../src/features/souls/domain/bounds.js';
import { ISSUER, serverKeys, soulMemories, soulMemory, unsignedSoul } from '../../support/souls.js';

const soul = await signSoul(await serverKeys('home'), ISSUER, unsignedSoul());
const verdictOf = (document: unknown): string => {
  const read = drained(readSoul(document));
  return 'wrong' in read ? read.wrong : 'read';
};

/** Every object of the document’s own schema, as a path; everything below `extra` and `metadata` is free-form. */
const closedObjects = (value: Json, path: readonly string[] = []): readonly (readonly string[])[] => {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item, place) => closedObjects(item, [...path, String(place)]));
  }
  if (!isObject(value)) return [];
  const open = ['extra', 'metadata', 'skills', 'relationships'].includes(path.at(-1) ?? '');
  const below = Object.entries(value).flatMap(([name, member]) => closedObjects(member, [...path, name]));
  return open ? [] : [path, ...below];
};

/** The soul with the object at a path replaced. */
const withObject = (path: readonly string[], make: (object: JsonObject) => Json): Json => {
  const change = (value: Json, [name, ...rest]: readonly string[]): Json => {
    if (name === undefined) return make(value as JsonObject);
    if (Array.isArray(value)) {
      return (value as readonly Json[]).map((item, place) => (String(place) === name ? change(item, rest) : item));
    }
    return { ...(value as JsonObject), [name]: change((value as JsonObject)[name] ?? null, rest) };
  };
  return change(soul, path);
};
const objects = closedObjects(soul).map((path) => [`/${path.join('/')}`, path] as const);

describe('reading a soul', () => {
  it('accepts a signed soul and returns it', () => {
    expect(drained(readSoul(soul))).toEqual({ soul });
  });

  it.each(objects)('accepts no extra and no missing member: %s [8.7b, 8.7e, 8.7f, 8.7g]', (_, path) => {
    expect(verdictOf(withObject(path, (object) => ({ ...object, more: '' })))).toBe('malformed');
    const names = Object.keys(
      path.reduce<Json>((value, name) => (value as JsonObject)[name] ?? null, soul) as JsonObject,
    );
    for (const name of names) {
      expect(verdictOf(withObject(path, ({ [name]: __, ...rest }) => rest)), name).toBe('malformed');
      expect(verdictOf(withObject(path, (object) => ({ ...object, [name]: [[]] }))), name).toBe('malformed');
    }
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', JSON.stringify(soul)],
    ['a list', [soul]],
    ['an empty object', {}],
    ['another version', { ...soul, version: '2' }],
    ['weights', { ...soul, baseModelWeights: 'ipfs://' }],
    ['an illegal NPC id', { ...soul, npcId: '../etc' }],
    ['an id that is not NFC', { ...soul, npcId: 'Zoe\u0308' }],
    ['an impossible day', { ...soul, createdAt: '2026-13-01T00:00:00.000Z' }],
    ['another zone', { ...soul, createdAt: '2026-11-21T10:00:00.000+01:00' }],
    ['a negative revision', { ...soul, provenance: { ...soul.provenance, revision: -1 } }],
    ['half a revision', { ...soul, provenance: { ...soul.provenance, revision: 0.5 } }],
    ['an unknown mood', { ...soul, state: { ...soul.state, mood: 'hungry' } }],
    ['a default that is not a member', { ...soul, state: { ...soul.state, filled: ['extra'] } }],
    ['a duplicate default', { ...soul, state: { ...soul.state, filled: ['fear', 'fear'] } }],
    ['a memory of no date', { ...soul, memories: [soulMemory(0, { timestamp: 'yesterday' })] }],
    ['too much importance', { ...soul, memories: [soulMemory(0, { importance: 1.5 })] }],
    ['a memory without a text', { ...soul, memories: [soulMemory(0, { text: '' })] }],
    [
      'a memory longer than one may be, in characters',
      { ...soul, memories: [soulMemory(0, { text: 'x'.repeat(8_193) })] },
    ],
    ['a memory longer than one may be, in bytes', { ...soul, memories: [soulMemory(0, { text: 'ö'.repeat(4_097) })] }],
    ['two memories with one id', { ...soul, memories: [soulMemory(0), soulMemory(0)] }],
    ['half a surrogate pair', { ...soul, persona: '\ud83d' }],
    ['half a surrogate pair in a name', { ...soul, state: { ...soul.state, extra: { '\ude00': 1 } } }],
    ['a number that is not finite', { ...soul, state: { ...soul.state, fear: Infinity } }],
    ['a value that JSON cannot represent', { ...soul, state: { ...soul.state, extra: { a: () => 1 } } }],
    [
      'too many links',
      { ...soul, provenance: { ...soul.provenance, chain: Array(MAX_SOUL_LINKS + 1).fill(soul.provenance.chain[0]) } },
    ],
  ])('refuses %s [8.7b, 8.7e]', (_, document) => {
    expect(verdictOf(document)).toBe('malformed');
  });

  it.each(['extra', 'metadata', 'top'])('refuses a member __proto__ anywhere: %s', (where) => {
    const hostile = JSON.parse('{"__proto__": {"admin": true}}') as JsonObject;
    const documents: Readonly<Record<string, unknown>> = {
      extra: { ...soul, state: { ...soul.state, extra: hostile } },
      metadata: { ...soul, memories: [soulMemory(0, { metadata: { a: [hostile] } })] },
      top: { ...soul, ...hostile },
    };
    expect(verdictOf(documents[where])).toBe('malformed');
  });

  it('accepts constructor and prototype as data', () => {
    const extra = JSON.parse('{"constructor": {"prototype": 1}, "toString": null}') as JsonObject;
    expect(verdictOf({ ...soul, state: { ...soul.state, extra } })).toBe('read');
  });
});

describe('a hostile value', () => {
  it('of a million levels is refused without a crash', () => {
    const deep = JSON.parse('['.repeat(1_000_000) + ']'.repeat(1_000_000)) as Json;
    expect(verdictOf(deep)).toBe('too_large');
    expect(verdictOf({ ...soul, state: { ...soul.state, extra: { deep } } })).toBe('too_large');
  });

  it('of a million memories is refused before they are examined', () => {
    const trap = new Proxy(soulMemory(0), {
      ownKeys: () => {
        throw new Error('a memory was looked at');
      },
    });
    expect(verdictOf({ ...soul, memories: Array(1_000_000).fill(trap) })).toBe('too_large');
    expect(verdictOf({ ...soul, memories: Array(MAX_SOUL_MEMORIES + 1).fill(trap) })).toBe('too_large');
  });

  it('of more text than a soul may have is refused [8.5b]', () => {
    expect(verdictOf({ ...soul, persona: 'x'.repeat(MAX_SOUL_BYTES) })).toBe('too_large');
    expect(verdictOf({ ...soul, memories: [], more: Array(MAX_SOUL_BYTES).fill(0) })).toBe('too_large');
  });
});

describe('reading a large soul', () => {
  const pausesOf = (document: unknown): number => {
    const work = readSoul(document);
    let pauses = 0;
    while (work.next().done !== true) pauses += 1;
    return pauses;
  };

  it('yields for memories of any shape', () => {
    expect(pausesOf({ ...soul, memories: soulMemories(10_000) })).toBeGreaterThan(50);
    const metadata = { numbers: Array<number>(380_000).fill(1) };
    expect(pausesOf({ ...soul, memories: [0, 1, 2].map((n) => soulMemory(n, { metadata })) })).toBeGreaterThan(15);
    expect(pausesOf({ ...soul, state: { ...soul.state, extra: metadata } })).toBeGreaterThan(4);
  });

  it('ends at the first part that is too large, before it examines any other', () => {
    const trap = new Proxy(soulMemory(1), {
      ownKeys: () => {
        throw new Error('a memory was looked at');
      },
    });
    const long = { a: 'x'.repeat(MAX_PART_BYTES) };
    expect(verdictOf({ ...soul, persona: long.a, memories: [trap] })).toBe('too_large');
    expect(verdictOf({ ...soul, state: { ...soul.state, extra: long }, memories: [trap] })).toBe('too_large');
    expect(verdictOf({ ...soul, memories: [soulMemory(0, { metadata: long }), trap] })).toBe('too_large');
  });
});

describe('docs/reference/soul.schema.json', () => {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../docs/reference/soul.schema.json'), 'utf8'),
  ) as JsonObject;
  const isSoul = new Ajv2020({ strict: true, formats: { 'client-id': true, 'date-time': true } }).compile(schema);

  it('accepts every signed soul, and no less [8.7a]', () => {
    expect(isSoul(soul)).toBe(true);
    for (const name of Object.keys(soul)) {
      expect(isSoul(Object.fromEntries(Object.entries(soul).filter(([other]) => other !== name)))).toBe(false);
    }
  });
});
