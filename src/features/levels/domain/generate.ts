import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import type { Level, Tile } from './level.js';
import { createLevelDraw, type LevelDraw } from './draw.js';

/** Half of a side, rounded down: 13 to 39 tiles. Sides are odd, because walls are on even tiles. */
const LEAST_HALF = 6;
const MOST_HALF = 19;
const HIT_POINTS = 100;
const HARM = 10;
const HEALS = 25;
/** Too few to kill a ghost that enters each of them once. */
const MOST_HAZARDS = 5;
const MOST_POTIONS = 3;
const MOST_GOALS = 2;

const KEY = 'key';
const DOOR = 'door';

const people = [
  {
    id: 'keeper',
    persona: 'Keeps the rooms and likes to talk.',
    says: ['Good day.', 'The key lies where you came in.'],
  },
  { id: 'hermit', persona: 'Lives here alone and is short of words.', says: ['Go on.', 'Mind where you step.'] },
  {
    id: 'pedlar',
    persona: 'Sells what he finds, and knows the way.',
    says: ['A fine day for a walk.', 'Past the door is the way out.'],
  },
] as const;

/** An empty ruleset: a generated level has no rules to test, but the core rules of the bridge apply. */
const GENERATED_RULES: DirectiveRuleSet = { rulesetId: 'generated', version: 1, rulesetRules: [], template: null };

/** Takes tiles that are not taken yet. */
const takerOf = (draw: LevelDraw, tiles: readonly Tile[]): ((count: number) => readonly Tile[]) => {
  const mixed = [...draw.someOf(tiles, tiles.length)];
  return (count) => mixed.splice(0, count);
};

/** A ghost that begins in one half finds the key there, and the goals behind the door. */
const fill = (draw: LevelDraw, near: readonly Tile[], far: readonly Tile[]) => {
  const [takeNear, takeFar] = [takerOf(draw, near), takerOf(draw, far)];
  const [spawn, key, person] = takeNear(3);
  const goals = takeFar(draw.within(1, MOST_GOALS));
  if (spawn === undefined || key === undefined || person === undefined || goals.length === 0)
    throw new Error('each half of a generated level has free tiles');
  const potions = [...takeNear(1), ...takeFar(draw.within(0, MOST_POTIONS - 1))];
  const hazards = [...takeFar(1), ...takeNear(draw.within(0, MOST_HAZARDS - 1))];
  const [bell] = takeFar(1);
  return { spawn, key, person, goals, potions, hazards, bell };
};

const numbered = <More extends object>(word: string, tiles: readonly Tile[], more: More) =>
  tiles.map((at, index) => ({ id: `${word}-${index + 1}`, at, ...more }));

/** Rooms behind walls. The one gap between the two halves is `door`, the only way from one half to the other. */
type GeneratedRooms = {
  readonly rows: readonly string[];
  readonly door: Tile;
  /** The free tiles of each half, without gaps in walls and the tiles before them: an object on one of these blocks no way. */
  readonly halves: readonly [readonly Tile[], readonly Tile[]];
};

/** A rectangle of free tiles, all four sides included. */
type Area = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

/** An area is divided only if both parts are this wide. */
const LEAST_ROOM = 3;

const isWide = ({ left, top, right, bottom }: Area): boolean => right - left >= bottom - top;

/**
 * The even columns (or rows) in which a wall leaves room on both sides. Walls are on even positions and gaps on odd ones, so no wall ends at a gap.
 */
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
 * Divides an area by a wall with one gap, then each part in the same way, and so on.
 * @param width odd, 13 or more, like `height`
 */
const generateRooms = (draw: LevelDraw, width: number, height: number): GeneratedRooms => {
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

/** The level for a name that no one registered: always the same for a name and a seed. Its goals can be reached through a door that the key opens. */
export const generateLevel = (name: string, seed: number): Level => {
  const draw = createLevelDraw(`${seed} ${name}`);
  const [width, height] = [2 * draw.within(LEAST_HALF, MOST_HALF) + 1, 2 * draw.within(LEAST_HALF, MOST_HALF) + 1];
  const { rows, door, halves } = generateRooms(draw, width, height);
  const [near, far] = draw.within(0, 1) === 0 ? halves : [halves[1], halves[0]];
  const { spawn, key, person, goals, potions, hazards, bell } = fill(draw, near, far);
  return {
    name,
    width,
    height,
    rows,
    spawn,
    hp: HIT_POINTS,
    persona: 'Somebody who looks for the way out.',
    ruleset: GENERATED_RULES,
    goals: numbered('goal', goals, {}),
    items: [
      { id: KEY, at: key, opens: [DOOR], heals: 0, consumed: true },
      ...numbered('potion', potions, { opens: [], heals: HEALS, consumed: true }),
    ],
    doors: [{ id: DOOR, at: door, locked: true }],
    hazards: numbered('pit', hazards, { harm: HARM }),
    npcs: [{ ...draw.oneOf(people), at: person, ruleset: GENERATED_RULES }],
    triggers:
      bell === undefined ? [] : [{ id: 'bell', from: bell, to: bell, text: 'A bell rings far away.', once: true }],
  };
};
