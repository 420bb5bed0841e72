import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  npcStream,
  parseNpcStream,
  rulesetStream,
  tenantOf,
  tenantStream,
} from '../../../src/domain/shared/stream-names.js';
import { makeProcessId, parseProcessId } from '../../../src/domain/shared/process-id.js';

const anyId = fc.string({ unit: 'grapheme', minLength: 1 }).filter((id) => id.isWellFormed());

describe('stream names', () => {
  it('give every id back', () => {
    fc.assert(
      fc.property(anyId, (npcId) => {
        expect(parseNpcStream(npcStream('studio', npcId))).toEqual({ tenant: 'studio', npcId });
      }),
    );
  });

  it('never let one id reach into the stream of another', () => {
    fc.assert(
      fc.property(anyId, anyId, anyId, anyId, (tenant, npcId, otherTenant, otherNpc) => {
        const same = tenant === otherTenant && npcId === otherNpc;
        expect(npcStream(tenant, npcId) === npcStream(otherTenant, otherNpc)).toBe(same);
        expect(npcStream(tenant, npcId)).toMatch(/^npc-[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+$/);
      }),
    );
  });

  it('tell the tenant of every stream that belongs to one', () => {
    expect(tenantOf(npcStream('studio', 'a.b~c'))).toBe('studio');
    expect(tenantOf(rulesetStream('studio', 'x'))).toBe('studio');
    expect(tenantOf(tenantStream('studio'))).toBe('studio');
    expect([tenantOf('signing-keys'), tenantOf('tenants')]).toEqual([null, null]);
  });
});

describe('a process id', () => {
  it('gives back the revision and the time that it was made at', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (revision, timeMs) => {
        expect(parseProcessId(makeProcessId('t', revision, timeMs, 'command'))).toEqual({ revision, timeMs });
      }),
    );
  });

  it('is the same for the same command, and no other text is one', () => {
    expect(makeProcessId('t', 3, 5, 'a')).toBe(makeProcessId('t', 3, 5, 'a'));
    expect(makeProcessId('t', 3, 5, 'a')).not.toBe(makeProcessId('t', 3, 5, 'b'));
    for (const text of ['', 't3', 'T3_5_aaaaaaaaaaaaaaaa', 't3_5_short', '../t3_5_aaaaaaaaaaaaaaaa'])
      expect(parseProcessId(text)).toBeNull();
  });
});
