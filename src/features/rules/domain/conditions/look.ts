import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { ARRAY_ELEMENTS, type Surroundings } from '../key-tree.js';
import type { Effort } from './effort.js';
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

/** Everything that the paths of a set lead to. Null: the decision cannot afford to look there. */
export type Sight = {
  readonly at: readonly (View | null)[];
  /** For each path with a letter: what its names lead to, from each element of its list. Null for elements that were not looked at. */
  readonly inElements: (index: number) => readonly (View | null)[] | null;
};

/** The names of one element may lead to lists: all elements together look at this many values of them. */
const LISTED_IN_ELEMENTS = ARRAY_ELEMENTS;

/** How many values the elements of one list may look at for one path. */
export const elementsWork = (names: number): number => (names + 1) * ARRAY_ELEMENTS + LISTED_IN_ELEMENTS;

/** What names lead to from one element; null if the decision cannot afford it. */
const fromElement = (element: Json, names: readonly string[], effort: Effort): Reached | null => {
  let value: Json | undefined = element;
  let followed = 0;
  // Without lists, every name leads to one member.
  for (; followed < names.length && !Array.isArray(value); followed += 1)
    value = memberOf(value, names[followed] ?? '');
  let reached = reachRoot(value);
  effort.looks -= followed + reached.work;
  for (const name of names.slice(followed)) {
    if (effort.looks <= 0) return null;
    reached = reachMember(reached, name);
    effort.looks -= reached.work;
  }
  return reached;
};

/** Looks at the elements of a list until its share of the effort is used up; null if all of the effort is. */
const lookIn = (list: View, { names }: ElementPlace, effort: Effort): readonly (View | null)[] | null => {
  const least = effort.looks - elementsWork(names.length);
  const views: (View | null)[] = [];
  for (const element of list.values) {
    if (effort.looks <= 0) return null;
    const reached = effort.looks <= least ? null : fromElement(element, names, effort);
    views.push(reached && new View(reached, effort));
  }
  return views;
};

/** Follows every path of a set, each step once. Elements are looked at when a rule first asks for them. */
export const lookAround = ({ steps, elements }: Places, around: Surroundings, effort: Effort): Sight => {
  const roots = rootsOf(around);
  const at: (View | null)[] = [];
  for (const [step, { parent, name }] of steps.entries()) {
    const from = at[parent];
    if (from === null || effort.looks <= 0) {
      at.push(null);
      continue;
    }
    const root = ROOTS[step];
    const reached = from === undefined ? reachRoot(root && roots[root]) : reachMember(from.reached, name);
    effort.looks -= reached.work;
    at.push(new View(reached, effort));
  }
  const seen = new Map<number, readonly (View | null)[] | null>();
  const inElements = (index: number): readonly (View | null)[] | null => {
    const known = seen.get(index);
    if (known !== undefined) return known;
    const place = elements[index];
    const list = (place && at[place.list]) ?? null;
    const found = place === undefined || list === null ? null : lookIn(list, place, effort);
    seen.set(index, found);
    return found;
  };
  return { at, inElements };
};
