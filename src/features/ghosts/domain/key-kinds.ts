import type { Level } from '../../levels/domain/level.js';
import { drained, type Sliced } from '../../../kernel/base/sliced.js';
import { chartOf } from './chart.js';

/** Items that are equivalent as keys: they open the same locked doors, and are all consumed or all kept. */
type KeyKind = {
  /** By position. */
  readonly doors: readonly number[];
  readonly lasts: boolean;
};

export type KeyKinds = {
  readonly kinds: readonly KeyKind[];
  /** By item: its kind; undefined if it opens no locked door. */
  readonly ofItem: readonly (number | undefined)[];
  /** By door: the kinds that open it. */
  readonly ofDoor: readonly (readonly number[])[];
};

/** The number of door names between two yields: some milliseconds. */
const SLICE_NAMES = 16_384;

function* make(level: Level): Sliced<KeyKinds> {
  const { opens } = chartOf(level);
  const kinds: KeyKind[] = [];
  const known = new Map<string, number>();
  const ofItem: (number | undefined)[] = [];
  const ofDoor: number[][] = level.doors.map(() => []);
  let names = 0;
  for (const [item, opened] of opens.entries()) {
    if ((names += opened.length) >= SLICE_NAMES) {
      yield names;
      names = 0;
    }
    const locked = new Set(opened.filter((door) => level.doors[door]?.locked === true));
    if (locked.size === 0) {
      ofItem.push(undefined);
      continue;
    }
    const doors = [...locked].sort((a, b) => a - b);
    const lasts = level.items[item]?.consumed === false;
    const key = `${String(lasts)} ${doors.join(' ')}`;
    const kind = known.get(key) ?? kinds.push({ doors, lasts }) - 1;
    if (!known.has(key)) for (const door of doors) ofDoor[door]?.push(kind);
    known.set(key, kind);
    ofItem.push(kind);
  }
  yield names;
  return { kinds, ofItem, ofDoor };
}

const made = new WeakMap<Level, KeyKinds>();

/** The keys of a level by kind, made once for its lifetime, in slices. The possibilities depend on how many there are of each kind. */
export function* keyKindsInSlices(level: Level): Sliced<KeyKinds> {
  const kinds = made.get(level) ?? (yield* make(level));
  made.set(level, kinds);
  return kinds;
}

/** The keys of a level by kind: immediate if the level was studied (study.ts). */
export const keyKindsOf = (level: Level): KeyKinds => drained(keyKindsInSlices(level));
