import type { Level } from '../../../../src/features/levels/domain/level.js';
import { drawnLevel } from './drawn-level.js';

const WIDTH = 64;

/**
 * A hall whose east side is open from top to bottom. It contains keys, and every third row is doors, all reachable at the same time. One goal is
 * behind the last door, another behind two doors in a row.
 */
export const manyKeys = (doors: number, keys: number, opens: (key: number, door: number) => boolean): Level => {
  const open = '.'.repeat(WIDTH);
  const floors = Array.from({ length: Math.ceil((doors - 3) / (WIDTH - 1)) }, () => [
    open,
    open,
    `${'#'.repeat(WIDTH - 1)}.`,
  ]);
  const rows = [open.replace('.', '@'), ...floors.flat(), open, '#'.repeat(WIDTH), 'GGG'.padEnd(WIDTH, '#')];
  const drawn = drawnLevel(rows);
  const bottom = rows.length - 2;
  // On the walls between the floors; the last three lead out of the hall.
  const places = Array.from({ length: doors - 3 }, (_, door) => ({
    x: door % (WIDTH - 1),
    y: 3 + 3 * Math.floor(door / (WIDTH - 1)),
  }));
  const last = [
    { x: 0, y: bottom },
    { x: 2, y: bottom },
    { x: 2, y: bottom + 1 },
  ];
  const made = [...places, ...last].map((at, door) => ({ id: `door${String(door)}`, at, locked: true }));
  return {
    ...drawn,
    rows: drawn.rows.map((row, y) =>
      [...row].map((tile, x) => (made.some(({ at }) => at.x === x && at.y === y) ? '.' : tile)).join(''),
    ),
    doors: made,
    items: Array.from({ length: keys }, (_, key) => ({
      id: `key${String(key)}`,
      at: { x: key % WIDTH, y: 1 + (Math.floor(key / WIDTH) % 2) },
      opens: made.filter((_door, door) => opens(key, door)).map(({ id }) => id),
      heals: 0,
      consumed: true,
    })),
    goals: [
      { id: 'near', at: { x: 0, y: bottom + 1 } },
      { id: 'far', at: { x: 3, y: bottom + 1 } },
    ],
  };
};
