import type { Tile } from './level.js';
import type { LevelDraw } from './level-draw.js';

/** Rooms behind walls. The one gap between the two halves is `door`: whoever is in one half gets into the other by it alone. */
export type GeneratedRooms = {
  readonly rows: readonly string[];
  readonly door: Tile;
  /** The free tiles of each half, without gaps in walls and what is before them: whatever stands on one blocks no way. */
  readonly halves: readonly [readonly Tile[], readonly Tile[]];
};

/** A rectangle of free tiles, all four sides included. */
type Area = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

/** An area is divided only if both parts are this wide. */
const LEAST_ROOM = 3;

const isWide = ({ left, top, right, bottom }: Area): boolean => right - left >= bottom - top;

/** The even columns (or rows) in which a wall leaves room on both sides. Walls are on even places and gaps on odd ones, so no wall ends at a gap. */
const wallPlaces = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at).filter(
    (place) => place % 2 === 0 && place - from >= LEAST_ROOM && to - place >= LEAST_ROOM,
  );

const oddPlace = (draw: LevelDraw, from: number, to: number): number =>
  from + 2 * draw.within(0, Math.floor((to - from) / 2));

const tilesIn = (rows: readonly (readonly string[])[], { left, top, right, bottom }: Area, kept: ReadonlySet<string>) =>
  rows.flatMap((row, y) =>
    row.flatMap((cell, x) =>
      cell === '.' && x >= left && x <= right && y >= top && y <= bottom && !kept.has(`${x} ${y}`) ? [{ x, y }] : [],
    ),
  );

/**
 * Divides an area by a wall with one gap, each part likewise, and so on.
 * @param width odd, 13 or more, as `height`
 */
export const generateRooms = (draw: LevelDraw, width: number, height: number): GeneratedRooms => {
  const cells: string[][] = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (__, x) => (x === 0 || y === 0 || x === width - 1 || y === height - 1 ? '#' : '.')),
  );
  const kept = new Set<string>();
  const set = (x: number, y: number, cell: string): void => void cells[y]?.splice(x, 1, cell);
  const divide = (area: Area): { readonly gap: Tile; readonly parts: readonly [Area, Area] } | null => {
    const { left, top, right, bottom } = area;
    const across = isWide(area);
    const places = across ? wallPlaces(left, right) : wallPlaces(top, bottom);
    if (places.length === 0) return null;
    const wall = draw.oneOf(places);
    const gap = across ? { x: wall, y: oddPlace(draw, top, bottom) } : { x: oddPlace(draw, left, right), y: wall };
    for (let at = across ? top : left; at <= (across ? bottom : right); at += 1)
      set(across ? wall : at, across ? at : wall, '#');
    set(gap.x, gap.y, '.');
    const before = [
      [0, 0],
      [0, 1],
      [0, -1],
      [1, 0],
      [-1, 0],
    ] as const;
    for (const [east, south] of before) kept.add(`${gap.x + east} ${gap.y + south}`);
    return across
      ? {
          gap,
          parts: [
            { ...area, right: wall - 1 },
            { ...area, left: wall + 1 },
          ],
        }
      : {
          gap,
          parts: [
            { ...area, bottom: wall - 1 },
            { ...area, top: wall + 1 },
          ],
        };
  };
  const first = divide({ left: 1, top: 1, right: width - 2, bottom: height - 2 });
  if (first === null) throw new Error('a generated level is at least 13 tiles wide and high');
  const waiting = [...first.parts];
  for (let area = waiting.pop(); area !== undefined; area = waiting.pop()) waiting.push(...(divide(area)?.parts ?? []));
  const [one, other] = first.parts;
  return {
    rows: cells.map((row) => row.join('')),
    door: first.gap,
    halves: [tilesIn(cells, one, kept), tilesIn(cells, other, kept)],
  };
};
