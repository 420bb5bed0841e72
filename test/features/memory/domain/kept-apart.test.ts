import { describe, expect, it } from 'vitest';

import {
  hearersOf,
  hearersWith,
  isForEverybody,
  isKeptFrom,
} from '../../../../src/features/memory/domain/kept-apart.js';

const player = { id: 'ann', from: 'body' } as const;
const ofGame = { type: 'knowledge', turnId: null, player };
const ofTurn = { type: 'knowledge', turnId: 't1', player };
/** An imported memory belongs to no turn of this mind. */
const arrived = (turnId: string | null) => ({ ...ofGame, source: { turnId } });

describe('a memory of what a player told', () => {
  it('is knowledge for everybody only if a request of the game stored it, here or elsewhere [12.2d, 12.2f]', () => {
    const keptFrom = (playerId: string | undefined) =>
      [ofGame, ofTurn, arrived(null), arrived('t9')].map((memory) => isKeptFrom(playerId, memory));
    expect(keptFrom('ben')).toEqual([false, true, false, true]);
    expect(keptFrom('ann')).toEqual([false, false, false, false]);
    expect(keptFrom(undefined)).toEqual([false, false, false, false]);
  });

  it('is in a group of those who may hear it, whatever they are called, and a stranger is in that of everybody [12.2b]', () => {
    const of = (id: string) => hearersOf({ ...ofTurn, player: { ...player, id } });
    const everybody = hearersOf(ofGame);
    expect(hearersWith('')).toContain(everybody);
    for (const id of ['ann', 'everybody', 'player', 'Ann', ' ann', 'player ann']) {
      expect(hearersWith(id)).toEqual([everybody, of(id)]);
      for (const other of ['ben', 'everybody', `player ${id}`])
        if (other !== id) expect(hearersWith(other)).not.toContain(of(id));
    }
    expect(of('')).toBeNull();
  });

  it('is not for everybody, unless it is such knowledge or nobody is told apart', () => {
    const byContext = { ...ofTurn, player: { ...player, from: 'context' as const } };
    const untold = { type: 'observation', turnId: 't1' };
    const all = [
      ofGame,
      ofTurn,
      byContext,
      untold,
      { ...untold, player },
      { ...ofTurn, player: { ...player, id: '' } },
    ];
    expect(all.map(isForEverybody)).toEqual([true, false, true, true, false, false]);
  });
});
