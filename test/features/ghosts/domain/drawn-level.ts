import type { Level } from '../../../../src/features/levels/domain/level.js';

type Drawn = Partial<Omit<Level, 'rows' | 'width' | 'height' | 'spawn'>> & {
  /** Whether keys are consumed by their use. */
  readonly consumed?: boolean;
  readonly harm?: number;
};

const all = (rows: readonly string[], sign: RegExp) =>
  rows.flatMap((row, y) => [...row.matchAll(sign)].map(({ 0: letter, index: x }) => ({ letter, at: { x, y } })));

/**
 * A level as it is drawn: `#` wall, `@` spawn, `G` goal, `^` hazard, `N` NPC, `+` unlocked door, `A` to `F` locked doors, `a` to `f` the keys to
 * all doors of that letter, `h` an item that heals, `j` a useless item. Things are numbered by kind: `goal1`, `A1`, `a1`, `npc1`.
 */
export const drawnLevel = (
  rows: readonly string[],
  { consumed = false, harm = 1, hp = 10, ...members }: Drawn = {},
): Level => {
  const counts = new Map<string, number>();
  const named = (name: string): string => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name}${count}`;
  };
  const doors = all(rows, /[A-F+]/g).map(({ letter, at }) => ({
    id: named(letter === '+' ? 'door' : letter),
    at,
    locked: letter !== '+',
  }));
  const items = all(rows, /[a-fhj]/g).map(({ letter, at }): Level['items'][number] => ({
    id: named(letter),
    at,
    opens: doors.filter(({ id }) => id.startsWith(letter.toUpperCase())).map(({ id }) => id),
    heals: letter === 'h' ? 5 : 0,
    consumed: consumed || letter === 'h',
  }));
  return {
    name: 'drawn',
    width: rows[0]?.length ?? 0,
    height: rows.length,
    rows: rows.map((row) => row.replace(/[^#]/g, '.')),
    spawn: all(rows, /@/g)[0]?.at ?? { x: 0, y: 0 },
    hp,
    persona: 'A ghost.',
    ruleset: null,
    goals: all(rows, /G/g).map(({ at }) => ({ id: named('goal'), at })),
    items,
    doors,
    hazards: all(rows, /\^/g).map(({ at }) => ({ id: named('hazard'), at, harm })),
    npcs: all(rows, /N/g).map(({ at }) => ({
      id: named('npc'),
      at,
      persona: 'A guard.',
      ruleset: null,
      says: ['Halt!'],
    })),
    triggers: [],
    ...members,
  };
};
