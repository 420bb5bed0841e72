import { describe, expect, it } from 'vitest';

import { OPEN_REPLAY, replays } from '../../../projections/replays.js';
import { OPEN_REPLAYS, requireReplayRoom } from '../../../src/features/replays/replay-room.js';
import { replayStream } from '../../../src/kernel/base/stream-names.js';
import type { ReadModels } from '../../../src/ports/read-models.js';
import { givenRowsOf } from '../../support/given.js';

const replayId = 'r0_0_aaaaaaaaaaaaaaaa';
const past = [
  { type: 'ReplayRequested', data: { replayId, npcIds: null, upTo: 1 } },
  { type: 'ReplayEnded', data: { replayId, ending: 'completed', reason: null } },
];

describe('the running replays of a tenant', () => {
  it.each([
    [1, OPEN_REPLAY],
    [2, ''],
  ])('are counted by their rows: after %i events', (count, tag) => {
    const [row] = givenRowsOf(replays, replayStream('studio', replayId))(...past.slice(0, count)).state.values();
    expect(row && replays.indexOf(row)).toMatchObject({ partition: 'studio', tag });
  });

  it('are limited in number [10.3q]', async () => {
    const running = (open: number): Pick<ReadModels, 'list' | 'reachedPosition'> => ({
      reachedPosition: () => Promise.resolve(true),
      list: (_, { limit }) => {
        const rows = Array.from({ length: Math.min(open, limit) }, () => ({ key: '', order: '', row: {} }));
        return Promise.resolve({ rows, more: open > limit });
      },
    });
    expect(OPEN_REPLAYS).toBe(8);
    await requireReplayRoom(running(OPEN_REPLAYS - 1), 'studio', 0);
    await expect(requireReplayRoom(running(OPEN_REPLAYS), 'studio', 0)).rejects.toMatchObject({
      ...{ code: 'REPLAYS_RUNNING', retryAfter: 10, details: { most: OPEN_REPLAYS } },
    });
  });
});
