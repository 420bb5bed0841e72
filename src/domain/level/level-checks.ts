import { isClientId } from '../shared/client-id.js';
import type { Tile } from './level.js';
import type { LevelThings } from './level-things.js';
import { type MapRemarks, quoted, WHOLE_MAP } from './level-problem.js';
import type { MapThing } from './map-objects.js';

const isOutside = ({ x, y }: Tile, rows: readonly string[]): boolean =>
  x < 0 || y < 0 || y >= rows.length || x >= (rows[0]?.length ?? 0);

/** Checks where things are: inside of the map, not in walls, and one tile large where only one tile counts. */
const checkPlaces = (things: readonly MapThing[], rows: readonly string[], remarks: MapRemarks): void => {
  for (const { thing, place, at, to, misshapen } of things) {
    if (misshapen) continue;
    const isArea = thing === 'trigger';
    if (isOutside(at, rows) || (isArea && isOutside(to, rows)))
      remarks.refuse(place, 'It is outside of the map, or partly so: move it inside.');
    else if (isArea) continue;
    else if (rows[at.y]?.charAt(at.x) === '#')
      remarks.refuse(
        place,
        `It is in a wall, at column ${at.x} and row ${at.y}: move it, or take the wall away there.`,
      );
    else if (at.x !== to.x || at.y !== to.y)
      remarks.warn(place, 'It covers several tiles; only the one under its upper left corner counts.');
  }
};

/** Checks ids: what the ghost calls things, and what `opens` lists. */
const checkIds = (things: readonly MapThing[], remarks: MapRemarks): void => {
  const seen = new Set<string>();
  for (const { thing, id, place } of things) {
    if (thing === 'spawn') continue;
    if (!isClientId(id) || id.includes(','))
      remarks.refuse(place, 'Its name has to be 1 to 128 printable characters without "/" and ",": rename it.');
    if (seen.has(id)) remarks.refuse(place, `Another object is called ${quoted(id)}, too: rename one of them.`);
    seen.add(id);
  }
};

/** The tile where the ghost begins. */
const spawnOf = (things: readonly MapThing[], remarks: MapRemarks): Tile | null => {
  const [first, second] = things.filter(({ thing }) => thing === 'spawn');
  if (first === undefined) remarks.refuse(WHOLE_MAP, 'The map has no object of the class "spawn": place one.');
  if (second !== undefined) remarks.refuse(second.place, 'It is a second object of the class "spawn": keep one.');
  return first?.at ?? null;
};

/** Checks what belongs together. Things that a ghost will find out are warnings: they can be played. */
const checkUse = (
  { goals, items, doors }: LevelThings,
  placeOf: (id: string) => MapThing['place'],
  remarks: MapRemarks,
): void => {
  const known = new Set(doors.map(({ id }) => id));
  const opened = new Set(items.flatMap(({ opens }) => opens));
  for (const { id, opens, heals } of items) {
    const missing = opens.find((door) => !known.has(door));
    if (missing !== undefined)
      remarks.refuse(placeOf(id), `Its property "opens" names ${quoted(missing)}, and no door is called so.`);
    if (opens.length === 0 && heals === 0)
      remarks.warn(placeOf(id), 'It opens no door and heals nothing, so it is good for nothing.');
  }
  for (const { id, locked } of doors)
    if (locked && !opened.has(id)) remarks.warn(placeOf(id), 'It is locked, and no item opens it.');
  if (goals.length === 0) remarks.warn(WHOLE_MAP, 'The map has no goal, so nothing completes it.');
};

/** Checks a level as a whole. @returns where the ghost begins, null when the map does not say so */
export const checkThings = (
  things: readonly MapThing[],
  made: LevelThings,
  rows: readonly string[],
  remarks: MapRemarks,
): Tile | null => {
  const places = new Map(things.map(({ id, place }) => [id, place]));
  const spawn = spawnOf(things, remarks);
  checkIds(things, remarks);
  checkPlaces(things, rows, remarks);
  checkUse(made, (id) => places.get(id) ?? WHOLE_MAP, remarks);
  return spawn;
};
