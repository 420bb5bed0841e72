import { describe, expect, it } from 'vitest';

import { souls, soulsListed } from '../../projections/souls.js';
import type { NpcEvent } from '../../src/features/npcs/domain/events.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';
import { draftOf } from '../support/histories.js';

const given = givenRowsOf(souls, npcStream('studio', 'mira'));
const of = (event: NpcEvent) => draftOf(event);
const sealed = of({
  type: 'SoulSealed',
  data: { soulId: 's1', name: 'Mira', digest: 'd', root: 'r', kid: 'k', mindRevision: 0, memories: 0, bytes: 9 },
});
const exported = of({ type: 'SoulExported', data: { soulId: 's1', txId: 'd', url: 'http://test/archive/d' } });

describe('the list of souls', () => {
  it('shows a soul once an archive has it', () => {
    const [waiting] = given(sealed).state.values();
    const row = { soulId: 's1', tenant: 'studio', npcId: 'mira', name: 'Mira', root: 'r', kid: 'k', place: null };
    expect(waiting).toEqual(row);
    expect(waiting && souls.indexOf(waiting).partition).not.toBe(soulsListed('studio'));
    const [listed] = given(sealed, exported).state.values();
    expect(listed).toMatchObject({ place: { txId: 'd', url: 'http://test/archive/d' } });
    expect(listed && souls.indexOf(listed).partition).toBe(soulsListed('studio'));
  });

  it('says when a soul was withdrawn, until it is exported again [8.1z]', () => {
    const withdrawn = of({ type: 'SoulWithdrawn', data: { soulId: 's1', txId: 'd' } });
    const [listed] = given(sealed, exported, withdrawn).state.values();
    expect(listed).toMatchObject({ place: { txId: 'd' }, withdrawnAt: '2026-01-01T00:00:02.000Z' });
    expect(listed && souls.indexOf(listed).partition).toBe(soulsListed('studio'));
    const [again] = given(sealed, withdrawn, exported).state.values();
    expect(again).not.toHaveProperty('withdrawnAt');
    expect([...given(withdrawn).state.values()]).toEqual([]);
  });

  it.each([
    of({ type: 'SoulExportFailed', data: { soulId: 's1', code: 'SOUL_UPLOAD_FAILED', reason: '' } }),
    of({ type: 'SoulExportExpired', data: { soulId: 's1' } }),
  ])('does not show a soul that did not leave, but knows that it was sealed: $type', (over) => {
    const [kept] = given(sealed, over).state.values();
    expect(kept).toMatchObject({ root: 'r', kid: 'k', place: null });
  });
});
