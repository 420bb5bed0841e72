import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  ghostMindStream,
  ghostStepsStream,
  isNpcStream,
  npcStream,
  parseNpcStream,
  rulesetStream,
  tenantOf,
  tenantStream,
} from '../../../src/kernel/base/stream-names.js';

const anyId = fc.string({ unit: 'grapheme', minLength: 1 }).filter((id) => id.isWellFormed());

describe('stream names', () => {
  it('decode to the original ids [1.6c]', () => {
    fc.assert(
      fc.property(anyId, (npcId) => {
        expect(parseNpcStream(npcStream('studio', npcId))).toEqual({ tenant: 'studio', npcId });
      }),
    );
  });

  it('never let one id reach into the stream of another [1.6c]', () => {
    fc.assert(
      fc.property(anyId, anyId, anyId, anyId, (tenant, npcId, otherTenant, otherNpc) => {
        const same = tenant === otherTenant && npcId === otherNpc;
        expect(npcStream(tenant, npcId) === npcStream(otherTenant, otherNpc)).toBe(same);
        expect(npcStream(tenant, npcId)).toMatch(/^npc-[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+$/);
      }),
    );
  });

  it('contain the tenant of every stream that belongs to one', () => {
    expect(tenantOf(npcStream('studio', 'a.b~c'))).toBe('studio');
    expect(tenantOf(rulesetStream('studio', 'x'))).toBe('studio');
    expect(tenantOf(tenantStream('studio'))).toBe('studio');
    expect([tenantOf('signing-keys'), tenantOf('tenants')]).toEqual([null, null]);
  });

  it.each([
    rulesetStream('studio', 'mira'),
    tenantStream('studio'),
    ghostMindStream('studio', 'mira'),
    ghostStepsStream('studio', 'mira'),
    'tenants',
    'signing-keys',
    'npc-studio',
    'npc-studio.mira~fork',
    'npc-studio.mira.more',
    '',
  ])('of another kind do not belong to a mind of the tenant: %j [9.6b, 9.8k]', (stream) => {
    expect([isNpcStream(stream), parseNpcStream(stream)]).toEqual([false, null]);
  });

  it('keep kinds apart whatever the ids are', () => {
    const names = [npcStream('a', 'b'), rulesetStream('a', 'b'), tenantStream('a'), tenantStream('a.b')];
    expect(new Set(names).size).toBe(names.length);
    expect(npcStream('studio', 'mira~fork')).toBe('npc-studio.mira=7efork');
    expect(npcStream('studio', '=7e')).toBe('npc-studio.=3d7e');
  });
});
