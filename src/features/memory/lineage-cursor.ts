/**
 * Where a lineage continues: the next revision, the memories derived so far, by ascending revision, and the recalls of turns that have not ended.
 * Their texts are read again, so a cursor stays at a few kilobytes.
 */
export type LineagePlace = {
  readonly next: number;
  readonly derived: readonly { readonly revision: number; readonly depth: number }[];
  readonly openAt: readonly number[];
};

/** The limit of a cursor, in characters. */
export const LINEAGE_CURSOR_CHARS = 12_288;

const BASE = 36;
const written = (number: number): string => number.toString(BASE);
const digits = '[0-9a-z]{1,10}';
const form = new RegExp(`^${digits}~((${digits}\\.[0-9a-z]{1,2}-)*)~((${digits}-)*)$`);

/** Revisions are written as differences. */
export const lineageCursor = ({ next, derived, openAt }: LineagePlace): string => {
  let before = 0;
  const kin = derived.map(({ revision, depth }) => {
    const step = written(revision - before);
    before = revision;
    return `${step}.${written(depth)}-`;
  });
  return `${written(next)}~${kin.join('')}~${openAt.map((revision) => `${written(revision)}-`).join('')}`;
};

/** Null if it is not a cursor of a lineage. */
export const readLineageCursor = (cursor: string): LineagePlace | null => {
  if (cursor.length > LINEAGE_CURSOR_CHARS || !form.test(cursor)) return null;
  const [next = '', kin = '', open = ''] = cursor.split('~');
  const read = (text: string): number => parseInt(text, BASE);
  const parts = (list: string): readonly string[] => list.split('-').slice(0, -1);
  let revision = 0;
  const derived = parts(kin).map((one) => {
    const [step = '', depth = ''] = one.split('.');
    revision += read(step);
    return { revision, depth: read(depth) };
  });
  return { next: read(next), derived, openAt: parts(open).map(read) };
};
