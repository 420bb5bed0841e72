import type { Path, Root } from './path.js';
import { ROOTS } from './path.js';

/** One step of a path: a name below another step. The steps of roots have no name. */
type Step = { readonly parent: number; readonly name: string };

/** The paths of a set as a tree of their steps, parents first, so that common steps are taken once. */
export type Places = {
  readonly steps: readonly Step[];
  /** Where a path ends; with a letter, where its list is. */
  readonly endOf: (path: Path) => number;
  /** The different paths with a letter. */
  readonly elements: readonly ElementPlace[];
  /** The place of a path with a letter in `elements`; -1 for any other path. */
  readonly elementsOf: (path: Path) => number;
};

/** Members of the elements of one list. */
export type ElementPlace = { readonly list: number; readonly names: readonly string[] };

const namesBefore = ({ names, letter }: Path): readonly string[] =>
  letter === undefined ? names : names.slice(0, letter.listNames);

/** The names behind the letter of a path. */
export const namesBehind = ({ names, letter }: Path): readonly string[] =>
  letter === undefined ? [] : names.slice(letter.listNames);

/** Joins paths into one tree. */
export const placesOf = (paths: readonly Path[]): Places => {
  const steps: Step[] = ROOTS.map(() => ({ parent: -1, name: '' }));
  const known = new Map<string, number>();
  const stepTo = (parent: number, name: string): number => {
    const key = `${parent}.${name}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = steps.push({ parent, name }) - 1;
    known.set(key, made);
    return made;
  };
  const endOf = (path: Path): number => namesBefore(path).reduce(stepTo, rootStep(path.root));
  const elements: ElementPlace[] = [];
  const knownElements = new Map<string, number>();
  const elementsOf = (path: Path): number => {
    if (path.letter === undefined) return -1;
    const place = { list: endOf(path), names: namesBehind(path) };
    const key = JSON.stringify(place);
    const found = knownElements.get(key) ?? elements.push(place) - 1;
    knownElements.set(key, found);
    return found;
  };
  for (const path of paths) {
    endOf(path);
    elementsOf(path);
  }
  return { steps, endOf, elements, elementsOf };
};

const rootStep = (root: Root): number => ROOTS.indexOf(root);
/** How many steps of a tree are roots. */
export const ROOT_STEPS = ROOTS.length;
