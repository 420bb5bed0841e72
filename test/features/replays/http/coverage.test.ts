import { describe, expect, it } from 'vitest';

import { npcs, type NpcRow } from '../../../../projections/npcs.js';
import { initialSummary } from '../../../../src/features/npcs/domain/state.js';
import { mindsFrom } from '../../../../src/features/replays/http/coverage.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { turnsDuring } from '../../../support/turns.js';
import { MemoryReadModels } from '../../../support/memory/read-models.js';

const [OLD, NEW] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];

describe('the minds in a coverage', () => {
  it('are those written to since the start and one of each read, with a yield between the reads', async () => {
    const readModels = new MemoryReadModels(new ManualClock());
    const build = await readModels.open(npcs);
    const put = Array.from({ length: 1_000 }, (_, n) => {
      const npcId = `mind-${String(n).padStart(4, '0')}`;
      const row: NpcRow = { ...initialSummary, tenant: 'studio', npcId, updatedAt: n === 7 ? NEW : OLD };
      return { key: npcId, row: { ...row }, index: npcs.indexOf(row) };
    });
    await readModels.commit(build, { put, remove: [], progress: [], parked: [], position: 1 });
    const found: string[] = [];
    const turns = await turnsDuring(async () => {
      for await (const npcId of mindsFrom(readModels, 'studio', undefined, Date.parse(NEW))) found.push(npcId);
    });
    const last = Array.from({ length: 10 }, (_, n) => `mind-${String(n)}`.replace('-', '-0') + '99');
    expect(found).toEqual(['mind-0007', ...last]);
    expect(turns).toBeGreaterThan(8);
  });
});
