import type { JsonObject } from '../shared/json.js';
import { MAX_LAYERS, MAX_OBJECTS, MAX_TILE_PIXELS, MAX_TILES_ACROSS } from './level-bounds.js';
import { type MapRemarks, quoted, WHOLE_MAP } from './level-problem.js';
import { mapNumber, objectsIn, textIn } from './map-members.js';

/** A layer that may matter. `shifted`: it, or a group around it, has an offset, so what it holds is not where it is seen. */
export type MapLayer = { readonly name: string; readonly shifted: boolean; readonly layer: JsonObject };

/** The tile layers with this name are the walls. */
const WALLS = 'collision';

/** The layers that make a level, in their order; all others are decoration. Groups are opened. Null when there are more layers or objects than a level may have. */
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
    remarks.refuse(WHOLE_MAP, `The map has more than ${MAX_LAYERS} layers: merge some.`);
    return null;
  }
  if (count > MAX_OBJECTS) {
    remarks.refuse(WHOLE_MAP, `The map has ${count} objects, and a level at most ${MAX_OBJECTS}: take some away.`);
    return null;
  }
  return { walls, objects };
};

/** How large a map and its tiles are, in tiles and in pixels. */
export type MapFrame = {
  readonly width: number;
  readonly height: number;
  readonly tileWidth: number;
  readonly tileHeight: number;
};

const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;

/** The frame of a map (JSON map format of Tiled: https://doc.mapeditor.org/en/stable/reference/json-map-format/); null when it is none that can be played. */
export const frameOf = (map: JsonObject, remarks: MapRemarks): MapFrame | null => {
  const refuse = (problem: string): null => {
    remarks.refuse(WHOLE_MAP, problem);
    return null;
  };
  if (map['type'] !== 'map') return refuse('This is not a Tiled map: in Tiled, export the map as JSON (.tmj).');
  if (map['infinite'] === true)
    return refuse('The map is infinite: take away the tick at Map > Map Properties > Infinite.');
  const orientation = textIn(map['orientation']);
  if (orientation !== 'orthogonal')
    return refuse(`The map is ${quoted(orientation)}: only orthogonal maps can be played.`);
  const { width, height, tilewidth: tileWidth, tileheight: tileHeight } = map;
  if (!isWithin(width, MAX_TILES_ACROSS) || !isWithin(height, MAX_TILES_ACROSS))
    return refuse(`The map has to be 1 to ${MAX_TILES_ACROSS} tiles wide and high: resize it (Map > Resize Map).`);
  if (!isWithin(tileWidth, MAX_TILE_PIXELS) || !isWithin(tileHeight, MAX_TILE_PIXELS))
    return refuse(`A tile has to be 1 to ${MAX_TILE_PIXELS} pixels wide and high: see Map > Map Properties.`);
  return { width, height, tileWidth, tileHeight };
};
