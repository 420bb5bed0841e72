import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';

/** The side of a tile in these maps, in pixels. */
export const TILE = 16;

const propertiesOf = (properties: Readonly<Record<string, Json>>): readonly JsonObject[] =>
  Object.entries(properties).map(([name, value]) => ({
    name,
    type: typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'int' : 'string',
    value,
  }));

let objects = 0;

/** An object of one tile, as Tiled 1.10 writes it. */
export const mapObject = (
  type: string,
  name: string,
  [x, y]: readonly [number, number],
  properties: Readonly<Record<string, Json>> = {},
  members: JsonObject = {},
): JsonObject => ({
  id: (objects += 1),
  name,
  type,
  x: x * TILE,
  y: y * TILE,
  width: TILE,
  height: TILE,
  rotation: 0,
  visible: true,
  properties: propertiesOf(properties),
  ...members,
});

export const objectLayer = (name: string, inside: readonly JsonObject[], members: JsonObject = {}): JsonObject => ({
  type: 'objectgroup',
  name,
  objects: inside,
  draworder: 'topdown',
  ...members,
});

/** A layer of walls from rows in which `#` is a wall. */
export const wallLayer = (rows: readonly string[], members: JsonObject = {}): JsonObject => ({
  type: 'tilelayer',
  name: 'collision',
  width: rows[0]?.length ?? 0,
  height: rows.length,
  data: [...rows.join('')].map((cell) => (cell === '#' ? 1 : 0)),
  ...members,
});

/** A map of these layers. */
export const tiledMap = (
  layers: readonly JsonObject[],
  [width, height]: readonly [number, number] = [6, 4],
  members: JsonObject = {},
): JsonObject => ({
  type: 'map',
  version: '1.10',
  tiledversion: '1.10.2',
  orientation: 'orthogonal',
  renderorder: 'right-down',
  infinite: false,
  width,
  height,
  tilewidth: TILE,
  tileheight: TILE,
  layers,
  tilesets: [],
  ...members,
});

export const roomRows = ['######', '#....#', '#....#', '######'] as const;

/** A small map that is a level: a room with these objects beside the spawn. */
export const roomMap = (
  things: readonly JsonObject[] = [mapObject('goal', 'exit', [4, 2])],
  members: JsonObject = {},
) =>
  tiledMap([wallLayer(roomRows), objectLayer('things', [mapObject('spawn', '', [1, 1]), ...things])], [6, 4], members);
