import type { JsonObject } from '../shared/json.js';
import { MAX_TILE_PIXELS, MAX_TILES_ACROSS } from './level-bounds.js';
import { type MapRemarks, quoted, WHOLE_MAP } from './level-problem.js';
import { textIn } from './map-members.js';

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
