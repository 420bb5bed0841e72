import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { generateLevel } from '../../../../src/features/levels/domain/generate.js';
import { jcs } from '../../../../src/kernel/base/json.js';
import { sha256Hex } from '../../../../src/kernel/crypto/sha256.js';
import { reachable } from './reachable.js';

const anyLevel = fc.tuple(fc.string(), fc.integer()).map(([name, seed]) => generateLevel(name, seed));
const digestOf = (name: string, seed: number): string => sha256Hex(jcs(generateLevel(name, seed)));

describe('a generated level', () => {
  it('can be completed: behind the shut door only the key is in reach, behind the open one everything is', () => {
    fc.assert(
      fc.property(anyLevel, (level) => {
        const { goals, items, doors, hazards, npcs, triggers } = level;
        const things = [...goals, ...items, ...hazards, ...npcs, ...triggers.map(({ id, from }) => ({ id, at: from }))];
        const key = items.find(({ opens }) => opens.length > 0);
        expect(doors).toMatchObject([{ id: key?.opens[0], locked: true }]);
        const before = reachable(
          level,
          doors.map(({ id }) => id),
        );
        expect(key !== undefined && before(key.at)).toBe(true);
        expect(goals.filter(({ at }) => before(at))).toEqual([]);
        const after = reachable(level, []);
        expect(things.filter(({ at }) => !after(at))).toEqual([]);
        const free = level.rows.flatMap((row, y) => [...row].flatMap((cell, x) => (cell === '.' ? [{ x, y }] : [])));
        expect(free.filter((tile) => !after(tile))).toEqual([]);
      }),
    );
  });

  it('has no NPC in the way', () => {
    fc.assert(
      fc.property(anyLevel, (level) => {
        const blocked = new Set(level.npcs.map(({ at }) => `${String(at.x)} ${String(at.y)}`));
        const rows = level.rows.map((row, y) =>
          [...row].map((cell, x) => (blocked.has(`${String(x)} ${String(y)}`) ? '#' : cell)).join(''),
        );
        const after = reachable({ ...level, rows }, []);
        expect([...level.goals, ...level.items].filter(({ at }) => !after(at))).toEqual([]);
      }),
    );
  });

  it('stays within bounds, and no two things share a tile or an id', () => {
    fc.assert(
      fc.property(anyLevel, (level) => {
        const { width, height, rows, spawn, goals, items, doors, hazards, npcs, triggers } = level;
        for (const side of [width, height]) expect(side >= 12 && side <= 40).toBe(true);
        expect(rows.map((row) => row.length)).toEqual(Array.from({ length: height }, () => width));
        const placed = [...goals, ...items, ...doors, ...hazards, ...npcs];
        const tiles = [spawn, ...placed.map(({ at }) => at), ...triggers.map(({ from }) => from)];
        expect(new Set(tiles.map(({ x, y }) => `${String(x)} ${String(y)}`)).size).toBe(tiles.length);
        const ids = [...placed, ...triggers].map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(hazards.length).toBeGreaterThan(0);
        expect(npcs).toHaveLength(1);
        expect(hazards.reduce((sum, { harm }) => sum + harm, 0)).toBeLessThan(level.hp);
      }),
    );
  });

  it('differs for another name or seed', () => {
    const digests = [digestOf('a', 1), digestOf('a', 2), digestOf('b', 1), digestOf('a', 1)];
    expect(new Set(digests).size).toBe(3);
  });

  it('is the same on every machine and in every release: running sessions refer to it by its digest', () => {
    expect([digestOf('somewhere', 1), digestOf('', -7), digestOf('größer 🏰', 2 ** 40)]).toEqual([
      '321e7455694b8b0bf6fa835a0e18e7366696bf29f1a311b90fca833272f3953a',
      '7cf81c50854c8bd6b6a362a0d7dcc6104f986cb5f2e62e2aef0cf49161106710',
      '1670b63a9dfb5e1ac7567404bd654ca2094001d2f6a3a59031748007de8c4241',
    ]);
  });
});
