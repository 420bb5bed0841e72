import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findBreak, GENESIS_HASH, type HashedEvent, hashInput, sha256 } from '../../src/app/hash-chain.js';
import { jcs, type JsonObject } from '../../src/domain/shared/json.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';

/** Texts that I-JSON can hold: lone surrogates are refused before they come here. */
const text = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed());
const data = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text)));

const event = fc
  .record({
    stream: text,
    revision: fc.nat(),
    id: fc.uuid(),
    type: text,
    data,
    meta: fc.record({
      tenant: text,
      actor: text,
      correlationId: text,
      causationId: fc.option(text, { nil: null }),
      commandId: text,
      schemaVersion: fc.nat(),
      at: text,
      prevHash: text,
    }),
  })
  .map((made) => made as HashedEvent & { readonly data: JsonObject });

/** Events of one stream, each linked to the one before. */
const chainOf = (events: readonly (HashedEvent & { readonly data: JsonObject })[]): readonly RecordedEvent[] => {
  let prevHash = GENESIS_HASH;
  return events.map((made, revision) => {
    const linked = { ...made, stream: 's', revision, meta: { ...made.meta, prevHash } };
    prevHash = sha256(hashInput(linked, jcs(made.data)));
    return { ...linked, position: revision + 1, meta: { ...linked.meta, hash: prevHash } };
  });
};

describe('the hash of an event', () => {
  it('is made from the canonical form of all its members, whatever they hold', () => {
    fc.assert(
      fc.property(event, ({ stream, revision, id, type, data: content, meta }) => {
        const input = hashInput({ stream, revision, id, type, meta }, jcs(content));
        expect(input).toBe(jcs({ stream, revision, id, type, data: content, ...meta }));
      }),
    );
  });
});

describe('a chain of hashes', () => {
  it('is whole as it was made', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), (events) => {
        expect(findBreak(chainOf(events))).toBeNull();
      }),
    );
  });

  it('breaks at the event that was changed, and at the gap that a missing one leaves', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 2, maxLength: 5 }), fc.nat(), (events, at) => {
        const chain = chainOf(events);
        const changed = at % chain.length;
        const touched = chain.map((made, index) => (index === changed ? { ...made, type: `${made.type}!` } : made));
        expect(findBreak(touched)?.revision).toBe(changed);
        const missing = at % (chain.length - 1);
        expect(findBreak(chain.filter((_, index) => index !== missing))?.revision).toBe(missing + 1);
      }),
    );
  });
});
