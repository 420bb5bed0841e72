import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { hashInput } from '../../support/hash-input.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { eventKinds } from '../../support/event-kinds.js';

/**
 * One event of every type and version, as a store held it. Nothing here is ever changed or removed: a new version of a type adds its event,
 * and `known`, the result of upcasting each older one.
 */
const fixtures = JSON.parse(
  readFileSync(new URL('../../fixtures/stored-events.json', import.meta.url), 'utf8'),
) as readonly {
  readonly kind: keyof typeof eventKinds;
  readonly stored: Omit<RecordedEvent, 'position'>;
  readonly known?: JsonObject;
}[];
const named = fixtures.map((fixture) => {
  const { type, meta } = fixture.stored;
  return [`${fixture.kind} ${type} ${String(meta.schemaVersion)}`, fixture] as const;
});

describe('stored events', () => {
  it('have an example of every type and version', () => {
    const wanted = Object.entries(eventKinds).flatMap(([kind, { types, versionOf }]) =>
      types.flatMap((type) =>
        Array.from({ length: versionOf(type) ?? 0 }, (_, index) => `${kind} ${type} ${String(index + 1)}`),
      ),
    );
    expect(named.map(([name]) => name).sort()).toEqual(wanted.sort());
  });

  it.each(named)('are decoded: %s', (_, { kind, stored, known }) => {
    const decoded = eventKinds[kind].decode(stored);
    expect({ type: decoded.type, data: decoded.data }).toEqual({ type: stored.type, data: known ?? stored.data });
    expect(known === undefined).toBe(stored.meta.schemaVersion === eventKinds[kind].versionOf(stored.type));
  });

  it.each(named)('keep the hash of their stored form: %s', (_, { stored }) => {
    expect(sha256Hex(hashInput(stored))).toBe(stored.meta.hash);
  });

  it('have one kind each', () => {
    const types = Object.values(eventKinds).flatMap(({ types: own }) => own);
    expect(new Set(types).size).toBe(types.length);
  });

  it('include every kind that has a decoder', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const made = sources
      .filter((name) => name !== join('kernel', 'base', 'decoder.ts'))
      .flatMap((name) => readFileSync(join('src', name), 'utf8').match(/\bdecoderOf</g) ?? []);
    expect(made).toHaveLength(Object.keys(eventKinds).length);
  });
});
