import type { Level } from '../level/level.js';
import { startsOf, type DoorOpening } from './closure.js';
import { departureOf, searchReach } from './reach.js';
import { regionsAround, regionsOf, type Manner, type Regions } from './regions.js';
import type { World } from './world.js';

/** What a ghost that looks for goals can do next. */
export type Prospect = {
  /** Goals that are not reached yet and need nothing to be opened, by position. */
  readonly goals: readonly number[];
  /** Else the first door to open on the way to one, and what opens it; null when no goal can be reached any more. */
  readonly opening: DoorOpening | null;
};

type Route = { readonly regions: Regions; readonly starts: readonly number[] };

/** The doors on the way to the nearest of some regions, with these doors open; null when there is no way. */
const doorsOnTheWay = (
  { regions, starts }: Route,
  to: ReadonlySet<number>,
  opened: ReadonlySet<number>,
): readonly number[] | null => {
  const from = new Map<number, number>(starts.map((start) => [start, -1]));
  for (const region of from.keys()) {
    if (to.has(region)) {
      const doors: number[] = [];
      for (let at = region; at !== -1; at = from.get(at) ?? -1) doors.push(...(regions.doors[at] ?? []));
      return doors;
    }
    for (const next of regions.links[region] ?? []) {
      if (!from.has(next) && (regions.doors[next] ?? []).every((door) => opened.has(door))) from.set(next, region);
    }
  }
  return null;
};

/** The first of some openings that a goal needs. Each may need earlier ones: to come to its door, and to its item. */
const firstNeeded = (
  level: Level,
  world: World,
  manner: Manner,
  goal: number,
  openings: readonly DoorOpening[],
): DoorOpening | null => {
  const regions = regionsOf(level, manner);
  const { of } = regions;
  const around = (thing: { readonly at: World['at'] } | undefined): ReadonlySet<number> =>
    new Set(thing === undefined ? [] : regionsAround(level, of, thing.at));
  const route: Route = { regions, starts: startsOf(level, regions, world.at, new Set(world.opened)) };
  const needed = new Set<number>();
  const need = (to: ReadonlySet<number>, before: number): void => {
    const opened = new Set([...world.opened, ...openings.slice(0, before).map(({ door }) => door)]);
    for (const door of doorsOnTheWay(route, to, opened) ?? []) if (!world.opened.includes(door)) needed.add(door);
  };
  need(around(level.goals[goal]), openings.length);
  let first: DoorOpening | null = null;
  for (let index = openings.length - 1; index >= 0; index -= 1) {
    const opening = openings[index];
    if (opening === undefined || !needed.has(opening.door)) continue;
    first = opening;
    need(around(level.doors[opening.door]), index);
    if (opening.item !== null && !world.held.includes(opening.item)) need(around(level.items[opening.item]), index);
  }
  return first;
};

/** The goals that can be reached through what is open now. */
const goalsInTheOpen = (level: Level, world: World, manner: Manner): ReadonlySet<number> => {
  const regions = regionsOf(level, manner);
  const opened = new Set(world.opened);
  const here = new Set(startsOf(level, regions, world.at, opened));
  const goals = new Set<number>();
  for (const region of here) {
    for (const goal of regions.goals[region] ?? []) goals.add(goal);
    for (const next of regions.links[region] ?? []) {
      if ((regions.doors[next] ?? []).every((door) => opened.has(door))) here.add(next);
    }
  }
  return goals;
};

/** Looks for goals that are left: without hazards if that is enough, else across them. */
export const prospectOf = (level: Level, world: World): Prospect => {
  const left = (goals: ReadonlySet<number>): readonly number[] =>
    [...goals].filter((goal) => !world.reached.includes(goal));
  for (const manner of ['careful', 'bold'] as const) {
    const goals = left(goalsInTheOpen(level, world, manner));
    if (goals.length > 0) return { goals, opening: null };
    const { best } = searchReach(level, manner, departureOf(world), 'together');
    const [goal] = left(best.goals);
    if (goal === undefined) continue;
    const opening = firstNeeded(level, world, manner, goal, best.departure.openings);
    if (opening !== null) return { goals, opening };
  }
  return { goals: [], opening: null };
};
