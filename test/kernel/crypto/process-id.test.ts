import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { makeTurnId } from '../../../src/features/turns/domain/turn-id.js';
import { makeProcessId, parseProcessId } from '../../../src/kernel/crypto/process-id.js';

describe('a process id', () => {
  it('contains the revision and the time of its creation', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (revision, timeMs) => {
        expect(parseProcessId(makeProcessId('t', revision, timeMs, 'command'))).toEqual({ revision, timeMs });
      }),
    );
  });

  it('is the same for the same command, and no other text is a process id', () => {
    expect(makeProcessId('t', 3, 5, 'a')).toBe(makeProcessId('t', 3, 5, 'a'));
    expect(makeProcessId('t', 3, 5, 'a')).not.toBe(makeProcessId('t', 3, 5, 'b'));
    for (const text of ['', 't3', 'T3_5_aaaaaaaaaaaaaaaa', 't3_5_short', '../t3_5_aaaaaaaaaaaaaaaa'])
      expect(parseProcessId(text)).toBeNull();
  });

  it('of a process in an empty stream begins at its first event', () => {
    expect(parseProcessId(makeProcessId('t', -1, 5, 'a'))?.revision).toBe(0);
  });

  it('shows the kind of a turn in its first letter', () => {
    const kinds = ['process', 'directive', 'context', 'verdict'] as const;
    expect(kinds.map((kind) => makeTurnId(kind, 3, 5, 'a').charAt(0))).toEqual(['t', 'd', 'c', 'v']);
  });
});
