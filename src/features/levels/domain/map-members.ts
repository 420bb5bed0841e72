import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { LINE_CHARS, MAX_HIT_POINTS, MAX_LAYERS, MAX_OBJECTS, MAX_TILE_PIXELS, MAX_TILES_ACROSS } from './bounds.js';
import { type MapPlace, type MapRemarks, quoted, WHOLE_MAP } from './problem.js';

/** Readers for members of a Tiled map, whose shape has not been checked. */

export const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];

export const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** A number, 0 if there is none. */
export const mapNumber = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** The class of an object or tile: `class` in Tiled 1.9, `type` in all other versions. */
export const classIn = (holder: JsonObject): string => textIn(holder['class']) || textIn(holder['type']);

/** Custom properties, by name. */
export type MapProperties = ReadonlyMap<string, Json>;

/** The properties that a level uses; games add their own. */
const knownProperties: ReadonlySet<string> = new Set([
  'name',
  'persona',
  'rules',
  'hp',
  'opens',
  'heals',
  'consumed',
  'locked',
  'harm',
  'says',
  'text',
  'once',
]);

export const propertiesIn = (holder: JsonObject): MapProperties =>
  new Map(
    objectsIn(holder['properties']).flatMap(({ name, value = null }) =>
      typeof name === 'string' && knownProperties.has(name) ? [[name, value]] : [],
    ),
  );

/** Reads properties with their expected types; a wrong one is reported as a problem, and treated as absent. */
export type PropertyReader = {
  text(name: string, most?: number): string;
  flag(name: string): boolean;
  /** An integer number of hit points, 0 or more. */
  hitPoints(name: string, otherwise: number): number;
};

export const propertyReader = (properties: MapProperties, at: MapPlace, remarks: MapRemarks): PropertyReader => {
  const wrong = (name: string, should: string): void =>
    remarks.refuse(at, `The property ${quoted(name)} ${should}. Change it, or remove it.`);
  return {
    text: (name, most = LINE_CHARS) => {
      const value = properties.get(name) ?? '';
      if (typeof value === 'string' && value.length <= most) return value.trim();
      wrong(name, `must be a string of at most ${most} characters`);
      return '';
    },
    flag: (name) => {
      const value = properties.get(name) ?? false;
      if (typeof value === 'boolean') return value;
      wrong(name, 'must be true or false (bool)');
      return false;
    },
    hitPoints: (name, otherwise) => {
      const value = properties.get(name) ?? otherwise;
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_HIT_POINTS) return value;
      wrong(name, `must be a whole number (int) from 0 to ${MAX_HIT_POINTS}`);
      return otherwise;
    },
  };
};

/** A layer that may matter. `shifted`: it, or a group around it, has an offset, so its contents are not where they appear. */
export type MapLayer = { readonly name: string; readonly shifted: boolean; readonly layer: JsonObject };

/** The tile layers with this name are the walls. */
const WALLS = 'collision';

/**
 * The layers that make a level, in their order; all others are decoration. Groups are opened. Null if there are more layers or objects than a level
 * may have.
 */
export const layersOf = (
  map: JsonObject,
  remarks: MapRemarks,
): { readonly walls: readonly MapLayer[]; readonly objects: readonly MapLayer[] } | null => {
  const walls: MapLayer[] = [];
  const objects: MapLayer[] = [];
  const waiting = objectsIn(map['layers'])
    .map((layer) => ({ layer, around: false }))
    .reverse();
  let [layers, count] = [waiting.length, 0];
  for (let next = waiting.pop(); next !== undefined && layers <= MAX_LAYERS; next = waiting.pop()) {
    const { layer, around } = next;
    const shifted = around || mapNumber(layer['offsetx']) !== 0 || mapNumber(layer['offsety']) !== 0;
    const name = textIn(layer['name']);
    if (layer['type'] === 'group') {
      const inside = objectsIn(layer['layers']);
      layers += inside.length;
      if (layers <= MAX_LAYERS) for (const one of inside.toReversed()) waiting.push({ layer: one, around: shifted });
    } else if (layer['type'] === 'tilelayer' && name.trim().toLowerCase() === WALLS) {
      walls.push({ name, shifted, layer });
    } else if (layer['type'] === 'objectgroup') {
      count += objectsIn(layer['objects']).length;
      objects.push({ name, shifted, layer });
    }
  }
  if (layers > MAX_LAYERS) {
    remarks.refuse(WHOLE_MAP, `The map has more than ${MAX_LAYERS} layers. Merge some of them.`);
    return null;
  }
  if (count > MAX_OBJECTS) {
    remarks.refuse(WHOLE_MAP, `The map has ${count} objects; the limit is ${MAX_OBJECTS}. Remove some of them.`);
    return null;
  }
  return { walls, objects };
};

/** The size of a map and of its tiles, in tiles and in pixels. */
export type MapFrame = {
  readonly width: number;
  readonly height: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
};

const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;

/** The frame of a map (JSON map format of Tiled: https://doc.mapeditor.org/en/stable/reference/json-map-format/); null if it cannot be played. */
export const frameOf = (map: JsonObject, remarks: MapRemarks): MapFrame | null => {
  const refuse = (problem: string): null => {
    remarks.refuse(WHOLE_MAP, problem);
    return null;
  };
  if (map['type'] !== 'map') return refuse('This is not a Tiled map. In Tiled, export the map as JSON (.tmj).');
  if (map['infinite'] === true) return refuse('The map is infinite. Clear Map > Map Properties > Infinite.');
  const orientation = textIn(map['orientation']);
  if (orientation !== 'orthogonal')
    return refuse(`The map is ${quoted(orientation)}, but only orthogonal maps can be played.`);
  const { width, height, tilewidth: tileWidth, tileheight: tileHeight } = map;
  if (!isWithin(width, MAX_TILES_ACROSS) || !isWithin(height, MAX_TILES_ACROSS))
    return refuse(`The map must be 1 to ${MAX_TILES_ACROSS} tiles wide and high. Resize it (Map > Resize Map).`);
  if (!isWithin(tileWidth, MAX_TILE_PIXELS) || !isWithin(tileHeight, MAX_TILE_PIXELS))
    return refuse(`A tile must be 1 to ${MAX_TILE_PIXELS} pixels wide and high. See Map > Map Properties.`);
  return { width, height, tileWidth, tileHeight };
};
