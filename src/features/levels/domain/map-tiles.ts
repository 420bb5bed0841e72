import type { Sliced } from '../../../kernel/base/sliced.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import { MAX_TILESETS } from './bounds.js';
import { type MapRemarks, quoted, WHOLE_MAP } from './problem.js';
import {
  classIn,
  type MapFrame,
  type MapLayer,
  mapNumber,
  type MapProperties,
  objectsIn,
  propertiesIn,
  textIn,
} from './map-members.js';

/** What a tile object gets from its tile. `isElsewhere`: the tileset is in a separate file, which is never fetched. */
export type TileKind = {
  readonly className: string;
  readonly properties: MapProperties;
  /** The point in its picture that an object's x and y refer to: `bottomleft`, unless the tileset names another one. */
  readonly alignment: string;
  readonly isElsewhere: boolean;
};

const NO_PROPERTIES: MapProperties = new Map<string, Json>();

/** The upper four bits of a tile's number show how it is turned. */
const TURN_FLAGS = 0xf0000000;
const MAX_TILE_NUMBER = 0xffffffff;
const TILE_BYTES = 4;

/** The number of a tile without its flags; 0 is no tile. */
const unturned = (tile: number): number => (tile & ~TURN_FLAGS) >>> 0;

const NOT_READABLE =
  'Set Map > Map Properties > Tile Layer Format to CSV or Base64 (uncompressed), and export the map again.';

const isTileNumber = (value: Json): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TILE_NUMBER;

const fromBase64 = (text: string, count: number): readonly number[] | null => {
  // A longer text is not even decoded.
  if (text.length > Math.ceil((count * TILE_BYTES) / 3) * 4) return null;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== count * TILE_BYTES) return null;
  return Array.from({ length: count }, (_, at) => bytes.readUInt32LE(at * TILE_BYTES));
};

/** The tiles of a layer, row by row; or a sentence that explains why they cannot be read. */
const tilesOf = ({ layer }: MapLayer, { width, height }: MapFrame): readonly number[] | string => {
  const { data } = layer;
  const compression = textIn(layer['compression']);
  if (compression !== '') return `The tiles of the layer are compressed (${quoted(compression)}). ${NOT_READABLE}`;
  if (layer['width'] !== width || layer['height'] !== height)
    return `The layer must be as large as the map, ${width} × ${height} tiles.`;
  if (typeof data === 'string') {
    if (layer['encoding'] !== 'base64') return `The tiles of the layer have an unknown encoding. ${NOT_READABLE}`;
    return (
      fromBase64(data, width * height) ??
      `The tiles of the layer are not ${width} × ${height} whole numbers. ${NOT_READABLE}`
    );
  }
  const tiles = Array.isArray(data) ? (data as readonly Json[]) : [];
  if (tiles.length !== width * height || !tiles.every(isTileNumber))
    return `The layer must have ${width} × ${height} tiles. Save the map in Tiled again.`;
  return tiles;
};

/** The rows of a level: `#` where a layer of walls has any tile, `.` elsewhere. */
export function* rowsOfWalls(
  frame: MapFrame,
  layers: readonly MapLayer[],
  remarks: MapRemarks,
): Sliced<readonly string[]> {
  if (layers.length === 0) remarks.warn(WHOLE_MAP, 'The map has no tile layer named "collision", so it has no walls.');
  const { width, height } = frame;
  const isWall = new Uint8Array(width * height);
  for (const one of layers) {
    const at = { layer: one.name, object: null };
    const tiles = tilesOf(one, frame);
    if (one.shifted) remarks.refuse(at, 'The layer, or a group around it, has an offset. Set it to 0.');
    else if (typeof tiles === 'string') remarks.refuse(at, tiles);
    else for (const [place, tile] of tiles.entries()) if (unturned(tile) !== 0) isWall[place] = 1;
    yield width * height;
  }
  return Array.from({ length: height }, (_, y) =>
    Array.from(isWall.subarray(y * width, (y + 1) * width), (wall) => (wall === 1 ? '#' : '.')).join(''),
  );
}

/** The kinds of tiles in a map's tilesets, by the tile's number. */
export const tileKindsOf = (map: JsonObject, remarks: MapRemarks): ((tile: number) => TileKind) => {
  const all = objectsIn(map['tilesets']);
  if (all.length > MAX_TILESETS) {
    remarks.refuse(WHOLE_MAP, `The map has more than ${MAX_TILESETS} tilesets. Remove those that it does not use.`);
  }
  const tilesets = all
    .slice(0, MAX_TILESETS)
    .map((tileset) => ({
      first: mapNumber(tileset['firstgid']),
      isElsewhere: typeof tileset['source'] === 'string',
      alignment: textIn(tileset['objectalignment']),
      tiles: new Map(objectsIn(tileset['tiles']).map((tile) => [mapNumber(tile['id']), tile])),
    }))
    .sort((one, other) => other.first - one.first);
  const known = new Map<number, TileKind>();
  const kindOf = (number: number): TileKind => {
    const found = tilesets.find(({ first }) => first <= number);
    const own = found?.tiles.get(number - found.first);
    return {
      className: own === undefined ? '' : classIn(own),
      properties: own === undefined ? NO_PROPERTIES : propertiesIn(own),
      alignment: found?.alignment ?? '',
      isElsewhere: found?.isElsewhere ?? false,
    };
  };
  return (tile) => {
    const number = unturned(tile);
    const kind = known.get(number) ?? kindOf(number);
    known.set(number, kind);
    return kind;
  };
};
