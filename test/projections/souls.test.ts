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
    expect(waiting).toEqual({ soulId: 's1', tenant: 'studio', npcId: 'mira', name: 'Mira', place: null });
    expect(waiting && souls.indexOf(waiting).partition).not.toBe(soulsListed('studio'));
    const [listed] = given(sealed, exported).state.values();
    expect(listed).toMatchObject({ place: { txId: 'd', url: 'http://test/archive/d' } });
    expect(listed && souls.indexOf(listed).partition).toBe(soulsListed('studio'));
  });

  it.each([
    of({ type: 'SoulExportFailed', data: { soulId: 's1', code: 'SOUL_UPLOAD_FAILED', reason: '' } }),
    of({ type: 'SoulExportExpired', data: { soulId: 's1' } }),
  ])('drops a soul that did not leave: $type', (over) => {
    expect(given(sealed, over).state.size).toBe(0);
  });
});
