import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { breaksOf, GENESIS_HASH, type HashedEvent, hashedText } from '../../../src/kernel/streams/hash-chain.js';
import { hashInput } from '../../support/hash-input.js';
import { findBreak } from '../../support/find-break.js';
import { jcs } from '../../../src/kernel/base/json.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';

/** Texts that I-JSON can hold: lone surrogates are refused earlier. */
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
  .map((made) => made as HashedEvent);

/** Events of one stream, each linked to its predecessor. */
const chainOf = (events: readonly HashedEvent[]): readonly RecordedEvent[] => {
  let prevHash = GENESIS_HASH;
  return events.map((made, revision) => {
    const linked = { ...made, stream: 's', revision, meta: { ...made.meta, prevHash } };
    prevHash = sha256Hex(hashInput(linked));
    return { ...linked, position: revision + 1, meta: { ...linked.meta, hash: prevHash } };
  });
};

describe('the hash of an event', () => {
  it('is made from the canonical form of all its members, whatever they contain', () => {
    fc.assert(
      fc.property(event, ({ stream, revision, id, type, data: content, meta }) => {
        const hashed = { stream, revision, id, type, data: content, meta };
        const whole = { stream, revision, id, type, data: content, ...meta };
        expect(hashInput(hashed)).toBe(jcs(whole));
        const { id: _, ...withoutId } = whole;
        expect(hashedText(hashed, jcs(content)).withoutId).toBe(jcs(withoutId));
      }),
    );
  });
});

describe('a chain of hashes', () => {
  it('is intact as it was made', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), (events) => {
        expect(findBreak(chainOf(events))).toBeNull();
      }),
    );
  });

  it('shows for each event whether its link, its content, or both are wrong', () => {
    fc.assert(
      fc.property(event, event, fc.boolean(), fc.boolean(), (first, second, linkless, touched) => {
        const [before, fitting] = chainOf([first, second]) as [RecordedEvent, RecordedEvent];
        const other = linkless ? 'f'.repeat(64) : before.meta.hash;
        const shown = touched ? { ...fitting, type: `${fitting.type}!` } : fitting;
        const link = { revision: 1, member: 'prevHash', stored: fitting.meta.prevHash, computed: other };
        const computed = sha256Hex(hashInput(shown));
        const content = { revision: 1, member: 'hash', stored: fitting.meta.hash, computed };
        expect(drained(breaksOf(shown, other))).toEqual([...(linkless ? [link] : []), ...(touched ? [content] : [])]);
      }),
    );
  });

  it('is checked in slices, however large an event is', () => {
    const large = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, n) => [`k${((n * 7_919) % 60_000).toString(36)}`, 0.5]),
    );
    const [made] = chainOf([{ ...fc.sample(event, 1)[0], data: large } as HashedEvent]) as [RecordedEvent];
    const work = breaksOf(made, GENESIS_HASH);
    let pauses = 0;
    while (work.next().done !== true) pauses += 1;
    expect(pauses).toBeGreaterThan(10);
  });

  it('breaks at an event that no server records, whatever JSON it is', () => {
    const [made] = chainOf(fc.sample(event, 1)) as [RecordedEvent];
    const stored: readonly Partial<Record<keyof RecordedEvent, unknown>>[] = [
      { data: { half: '\ud800' } },
      { data: { large: Infinity } },
      { data: null },
      { meta: null },
      { meta: { ...made.meta, hash: 5 } },
      { meta: { ...made.meta, hash: null } },
      { type: '\udfff' },
    ];
    const computed = stored.map((change) => {
      const breaks = drained(breaksOf({ ...made, ...change } as RecordedEvent, GENESIS_HASH));
      const broken = breaks.find(({ member }) => member === 'hash');
      expect([broken?.stored, broken?.computed]).toEqual([
        expect.stringMatching(/^([0-9a-f]{64})?$/),
        expect.stringMatching(/^[0-9a-f]{64}$/),
      ]);
      return broken?.computed;
    });
    // Two that hold the same with other hashes are told apart by what is stored.
    expect(new Set(computed).size).toBeGreaterThanOrEqual(stored.length - 1);
  });

  it('breaks at a changed event, and at the gap of a missing one', () => {
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
