import { isObject, type Json } from '../shared/json.js';
import type { Sliced } from '../rules/hold-patterns.js';
import type { Level } from './level.js';
import { PERSONA_CHARS } from './level-bounds.js';
import { checkThings } from './level-checks.js';
import { createRemarks, type LevelProblem, WHOLE_MAP } from './level-problem.js';
import { readThings, rulesetAt } from './level-things.js';
import { frameOf } from './map-frame.js';
import { layersOf } from './map-layers.js';
import { propertiesIn, propertyReader } from './map-members.js';
import { thingsOf } from './map-objects.js';
import { tileKindsOf } from './map-tiles.js';
import { rowsOfWalls } from './map-walls.js';

/** Hit points that a ghost begins with, unless the map says otherwise. */
const HIT_POINTS = 100;
const PERSONA = 'Somebody who has come here for the first time and tries everything.';
/** Of a level's name, in UTF-16 units. */
const LEVEL_NAME_CHARS = 128;
/** The id of the ghost's rules that have none. */
const GHOST_RULES = 'ghost';

/** A level, or why a map is none. */
export type LevelReading =
  | { readonly level: Level; readonly warnings: readonly LevelProblem[] }
  | { readonly problems: readonly LevelProblem[] };

/**
 * What a Tiled map means as a level (contract 9.7, docs/levels.md). Pure and total: any JSON is read in bounded time, in slices, because patterns of
 * rules are compiled. Its caller bounds the size of the JSON (MAP_BYTES).
 * @param levelId what the level is called when the map does not say so
 */
export function* readMap(map: Json, levelId: string): Sliced<LevelReading> {
  const remarks = createRemarks();
  const { problems, warnings } = remarks;
  const head = isObject(map) ? map : {};
  const frame = frameOf(head, remarks);
  const layers = frame === null ? null : layersOf(head, remarks);
  if (frame === null || layers === null) return { problems };

  const read = propertyReader(propertiesIn(head), WHOLE_MAP, remarks);
  const ruleset = yield* rulesetAt(read, GHOST_RULES, WHOLE_MAP, remarks);
  const rows = yield* rowsOfWalls(frame, layers.walls, remarks);
  const things = thingsOf(frame, layers.objects, tileKindsOf(head, remarks), remarks);
  const made = yield* readThings(things, remarks);
  const spawn = checkThings(things, made, rows, remarks);
  const hp = read.hitPoints('hp', HIT_POINTS);
  if (hp === 0)
    remarks.refuse(WHOLE_MAP, 'The ghost would begin without hit points: set the property "hp" to 1 or more.');
  const name = read.text('name', LEVEL_NAME_CHARS) || levelId;
  const persona = read.text('persona', PERSONA_CHARS) || PERSONA;
  if (spawn === null || problems.length > 0) return { problems };
  const { width, height } = frame;
  return { level: { name, width, height, rows, spawn, hp, persona, ruleset, ...made }, warnings };
}
