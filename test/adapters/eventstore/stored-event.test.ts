import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { streamNames, toPosition, toServerPosition } from '../../../src/adapters/eventstore/stored-event.js';

const namespaces = fc.stringMatching(/^[\w-]{1,64}$/);

describe('Stream names on a shared server', () => {
  it('are decoded unchanged, and never begin with $', () => {
    fc.assert(
      fc.property(namespaces, fc.string(), (namespace, stream) => {
        const names = streamNames(namespace);
        const name = names.toServer(stream);
        expect(names.fromServer(name)).toBe(stream);
        expect(name.startsWith(names.prefix)).toBe(true);
        expect(name.startsWith('$')).toBe(false);
      }),
    );
  });

  it('belong to exactly one namespace, even if another one has the same prefix [11.1g]', () => {
    fc.assert(
      fc.property(namespaces, namespaces, fc.string(), (one, other, stream) => {
        fc.pre(one !== other);
        expect(streamNames(one).fromServer(streamNames(other).toServer(stream))).toBeNull();
      }),
    );
    expect(streamNames('anima').fromServer('anima-test.npc-a')).toBeNull();
  });

  it.each(['', '$anima', 'a.b', 'a b', 'a/b', 'x'.repeat(65)])('are refused in the namespace %j', (namespace) => {
    expect(() => streamNames(namespace)).toThrow(RangeError);
  });
});

describe('Positions in the log', () => {
  it('are exact in both directions', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, BigInt(Number.MAX_SAFE_INTEGER)), (commit) => {
        expect(toServerPosition(toPosition(commit))).toEqual({ commit, prepare: commit });
      }),
    );
  });

  it('are refused if a number would round them', () => {
    expect(() => toPosition(2n ** 53n)).toThrow(RangeError);
    expect(toPosition(2n ** 53n - 1n)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
