import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { ARRAY_ELEMENTS, type Surroundings } from '../key-tree.js';
import { type Root, ROOTS } from './path.js';
import type { ElementPlace, Places } from './places.js';
import { memberOf, type Reached, reachMember, reachRoot } from './reach.js';
import { View } from './view.js';

/** An empty target of an action is nothing, because a response shows every action with a target. */
const shownAction = (action: JsonObject): JsonObject => {
  if (action['target'] !== '') return action;
  const { target: _, ...rest } = action;
  return rest;
};

/** What the roots of paths lead to. */
export const rootsOf = (around: Surroundings): Readonly<Record<Root, Json | undefined>> => ({
  state: around.npcState,
  context: around.context,
  facts: around.facts,
  action: around.action ? shownAction(around.action) : undefined,
  delta: around.delta,
  after: around.after,
  observation: around.observation,
});

/** Everything that the paths of a set lead to. */
export type Sight = {
  readonly at: readonly View[];
  /** For each path with a letter: what its names lead to, from each element of its list. Null for elements that were not looked at. */
  readonly inElements: (index: number) => readonly (View | null)[];
  /** How many values were looked at so far. */
  readonly work: () => number;
};

/** The names of one element may lead to lists: all elements together look at this many values of them. */
const LISTED_IN_ELEMENTS = ARRAY_ELEMENTS;

/** How many values the elements of one list may look at for one path. */
export const elementsWork = (names: number): number => (names + 1) * ARRAY_ELEMENTS + LISTED_IN_ELEMENTS;

const fromElement = (element: Json, names: readonly string[]): { readonly reached: Reached; readonly work: number } => {
  let value: Json | undefined = element;
  let followed = 0;
  // Without lists, every name leads to one member.
  for (; followed < names.length && !Array.isArray(value); followed += 1)
    value = memberOf(value, names[followed] ?? '');
  let reached = reachRoot(value);
  let work = followed + reached.work;
  for (const name of names.slice(followed)) {
    reached = reachMember(reached, name);
    work += reached.work;
  }
  return { reached, work };
};

/** Looks at the elements of a list until the work is used up. */
const lookIn = (
  list: View,
  { names }: ElementPlace,
): { readonly views: readonly (View | null)[]; readonly work: number } => {
  let work = 0;
  const most = elementsWork(names.length);
  const views = list.values.map((element) => {
    if (work >= most) return null;
    const found = fromElement(element, names);
    work += found.work;
    return new View(found.reached);
  });
  return { views, work };
};

/** Follows every path of a set, each step once. Elements are looked at when a rule first asks for them. */
export const lookAround = ({ steps, elements }: Places, around: Surroundings): Sight => {
  const roots = rootsOf(around);
  const at: View[] = [];
  let work = 0;
  for (const [step, { parent, name }] of steps.entries()) {
    const from = at[parent];
    const root = ROOTS[step];
    const reached = from === undefined ? reachRoot(root && roots[root]) : reachMember(from.reached, name);
    work += reached.work;
    at.push(new View(reached));
  }
  const seen = new Map<number, readonly (View | null)[]>();
  const inElements = (index: number): readonly (View | null)[] => {
    const known = seen.get(index);
    if (known !== undefined) return known;
    const place = elements[index];
    const list = place && at[place.list];
    if (list === undefined) return [];
    const found = lookIn(list, place as ElementPlace);
    work += found.work;
    seen.set(index, found.views);
    return found.views;
  };
  return { at, inElements, work: () => work };
};
