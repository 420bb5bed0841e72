import { unitVector } from '../shared/unit-vector.js';

/** How far before its end a window may end to end between words, as a share of its length. */
const LOOK_BACK = 0.2;

const encoder = new TextEncoder();

/** A text in windows of at most `bytes` of UTF-8, which end between words if possible, and never within a character. */
export const windowsOf = (text: string, bytes: number): readonly string[] => {
  const windows: string[] = [];
  const room = new Uint8Array(bytes);
  let rest = text.trim();
  for (;;) {
    const { read } = encoder.encodeInto(rest, room);
    if (read === rest.length) return rest === '' ? windows : [...windows, rest];
    const space = rest.slice(0, read + 1).search(/\s\S*$/);
    const end = space >= read * (1 - LOOK_BACK) ? space : read;
    windows.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
};

/** The direction between the vectors of a text's windows; null if none of them has a direction. */
export const meanOf = (vectors: readonly Float32Array[]): Float32Array | null => {
  const units = vectors.map(unitVector).filter((unit) => unit !== null);
  const [first] = units;
  if (first === undefined || units.length === 1) return first ?? null;
  return unitVector(first.map((_, at) => units.reduce((sum, unit) => sum + (unit[at] ?? 0), 0)));
};
