import { isClientId } from '../../../kernel/base/client-id.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import type { Sliced } from '../../../kernel/base/sliced.js';
import type { Level, Tile } from './level.js';
import { PERSONA_CHARS } from './bounds.js';
import { createRemarks, type LevelProblem, type MapRemarks, quoted, WHOLE_MAP } from './problem.js';
import { type LevelThings, readThings, rulesetAt } from './things.js';
import { frameOf, layersOf, propertiesIn, propertyReader } from './map-members.js';
import { type MapThing, thingsOf } from './map-objects.js';
import { rowsOfWalls, tileKindsOf } from './map-tiles.js';

/** A ghost's initial hit points, unless the map sets them. */
const HIT_POINTS = 100;
const PERSONA = 'Somebody who has come here for the first time and tries everything.';
/** The limit of a level's name, in UTF-16 units. */
const LEVEL_NAME_CHARS = 128;
/** The default id of the ghost's rules. */
const GHOST_RULES = 'ghost';

/** A level, or the reasons why a map is not one. */
export type LevelReading =
  | { readonly level: Level; readonly warnings: readonly LevelProblem[] }
  | { readonly problems: readonly LevelProblem[] };

const isOutside = ({ x, y }: Tile, rows: readonly string[]): boolean =>
  x < 0 || y < 0 || y >= rows.length || x >= (rows[0]?.length ?? 0);

/** Checks positions: inside the map, not in walls, and one tile large where only one tile counts. */
const checkPlaces = (things: readonly MapThing[], rows: readonly string[], remarks: MapRemarks): void => {
  for (const { thing, place, at, to, misshapen } of things) {
    if (misshapen) continue;
    const isArea = thing === 'trigger';
    if (isOutside(at, rows) || (isArea && isOutside(to, rows)))
      remarks.refuse(place, 'The object is partly or completely outside the map. Move it inside.');
    else if (isArea) continue;
    else if (rows[at.y]?.charAt(at.x) === '#')
      remarks.refuse(
        place,
        `The object is inside a wall at column ${at.x} and row ${at.y}. Move it, or remove the wall there.`,
      );
    else if (at.x !== to.x || at.y !== to.y)
      remarks.warn(place, 'The object covers several tiles; only the tile under its upper left corner counts.');
  }
};

/** Checks ids: those of objects, and those listed in `opens`. */
const checkIds = (things: readonly MapThing[], remarks: MapRemarks): void => {
  const seen = new Set<string>();
  for (const { thing, id, place } of things) {
    if (thing === 'spawn') continue;
    if (!isClientId(id) || id.includes(','))
      remarks.refuse(
        place,
        'The name must be 1 to 128 printable characters other than "/" and ",". Rename the object.',
      );
    if (seen.has(id)) remarks.refuse(place, `Another object is also named ${quoted(id)}. Rename one of them.`);
    seen.add(id);
  }
};

/** The tile where the ghost begins. */
const spawnOf = (things: readonly MapThing[], remarks: MapRemarks): Tile | null => {
  const [first, second] = things.filter(({ thing }) => thing === 'spawn');
  if (first === undefined) remarks.refuse(WHOLE_MAP, 'The map has no object of the class "spawn". Add one.');
  if (second !== undefined)
    remarks.refuse(second.place, 'This is a second object of the class "spawn". Keep only one.');
  return first?.at ?? null;
};

/** Checks references between objects. Problems that a ghost will find out are only warnings: the level can be played. */
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
      remarks.refuse(placeOf(id), `The property "opens" names ${quoted(missing)}, but no door has that name.`);
    if (opens.length === 0 && heals === 0)
      remarks.warn(placeOf(id), 'The item neither opens a door nor heals, so it has no use.');
  }
  for (const { id, locked } of doors)
    if (locked && !opened.has(id)) remarks.warn(placeOf(id), 'The door is locked, but no item opens it.');
  if (goals.length === 0) remarks.warn(WHOLE_MAP, 'The map has no goal, so it can never be completed.');
};

/** Checks all objects together. @returns where the ghost begins, null if the map does not define it */
const checkThings = (
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

/**
 * Reads a Tiled map as a level (docs/reference/formats/level.md). Pure and total: any JSON is read in bounded time, in slices, because patterns of
 * rules are compiled. The caller limits the size of the JSON (MAP_BYTES).
 * @param levelId the name of the level if the map does not have one
 * @param accepted it was accepted before, so that its texts are read as they were then
 */
export function* readMap(map: Json, levelId: string, accepted = false): Sliced<LevelReading> {
  const remarks = createRemarks();
  const { problems, warnings } = remarks;
  const head = isObject(map) ? map : {};
  const frame = frameOf(head, remarks);
  const layers = frame === null ? null : layersOf(head, remarks);
  if (frame === null || layers === null) return { problems };

  const read = propertyReader(propertiesIn(head), WHOLE_MAP, remarks);
  const ruleset = yield* rulesetAt(read, GHOST_RULES, WHOLE_MAP, remarks, accepted);
  const rows = yield* rowsOfWalls(frame, layers.walls, remarks);
  const things = thingsOf(frame, layers.objects, tileKindsOf(head, remarks), remarks);
  const made = yield* readThings(things, remarks, accepted);
  const spawn = checkThings(things, made, rows, remarks);
  const hp = read.hitPoints('hp', HIT_POINTS);
  if (hp === 0)
    remarks.refuse(WHOLE_MAP, 'The ghost would start without hit points. Set the property "hp" to 1 or more.');
  const name = read.text('name', LEVEL_NAME_CHARS) || levelId;
  const persona = read.text('persona', PERSONA_CHARS) || PERSONA;
  if (spawn === null || problems.length > 0) return { problems };
  const { width, height } = frame;
  return { level: { name, width, height, rows, spawn, hp, persona, ruleset, ...made }, warnings };
}
