import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { ARRAY_ELEMENTS, isIndex } from '../key-tree.js';

/**
 * What a path leads to. A list counts as its elements, also a list in a list; nothing (null, a missing member, an empty list) as `hasGaps`. At most
 * ARRAY_ELEMENTS values are kept, and as many elements looked at, all lists at one place of a path together.
 */
export type Reached = Passed & {
  /** The values with their lists opened, without nothing. */
  readonly values: readonly Json[];
  /** Before the lists were opened: the values of which an index picks an element. */
  readonly closed: { readonly members: readonly (Json | undefined)[]; readonly passed: Passed };
  /** How many values were looked at. */
  readonly work: number;
};

/** What a path passed on its way. */
type Passed = {
  /** Whether it leads to a list or through one. */
  readonly isListed: boolean;
  /** Whether some element, or the whole path, led to nothing. */
  readonly hasGaps: boolean;
  /** Whether there are more elements than were looked at. */
  readonly isCut: boolean;
};

type Opening = { values: Json[]; looks: number; isListed: boolean; hasGaps: boolean; isCut: boolean };

const open = (value: Json | undefined, opening: Opening): void => {
  if (value === undefined || value === null) opening.hasGaps = true;
  else if (Array.isArray(value)) openList(value as readonly Json[], opening);
  else if (opening.values.length === ARRAY_ELEMENTS) opening.isCut = true;
  else opening.values.push(value);
};

const openList = (list: readonly Json[], opening: Opening): void => {
  opening.isListed = true;
  if (list.length === 0) opening.hasGaps = true;
  for (const element of list) {
    if (opening.looks === ARRAY_ELEMENTS) {
      opening.isCut = true;
      return;
    }
    opening.looks += 1;
    open(element, opening);
  }
};

const opened = (members: readonly (Json | undefined)[], passed: Passed): Reached => {
  const { isListed, hasGaps, isCut } = passed;
  const opening: Opening = { values: [], looks: 0, isListed, hasGaps, isCut };
  for (const value of members) open(value, opening);
  return {
    values: opening.values,
    isListed: opening.isListed,
    hasGaps: opening.hasGaps,
    isCut: opening.isCut,
    closed: { members, passed },
    work: members.length + opening.looks,
  };
};

/** What a root leads to. */
export const reachRoot = (root: Json | undefined): Reached =>
  opened([root], { isListed: false, hasGaps: false, isCut: false });

/** An own member of an object; nothing of any other value. */
export const memberOf = (holder: Json | undefined, name: string): Json | undefined =>
  typeof holder === 'object' && holder !== null && !Array.isArray(holder) && Object.hasOwn(holder, name)
    ? (holder as JsonObject)[name]
    : undefined;

const elementOf = (holder: Json | undefined, index: string): Json | undefined =>
  Array.isArray(holder) ? (holder as readonly Json[])[Number(index)] : memberOf(holder, index);

/** What a name leads to: own members of objects, or if it is an index, the elements of lists. */
export const reachMember = (from: Reached, name: string): Reached => {
  if (!isIndex(name))
    return opened(
      from.values.map((holder) => memberOf(holder, name)),
      from,
    );
  const { members, passed } = from.closed;
  const hasGaps = passed.hasGaps || members.includes(undefined);
  return opened(
    members.map((holder) => elementOf(holder, name)),
    { ...passed, hasGaps },
  );
};
