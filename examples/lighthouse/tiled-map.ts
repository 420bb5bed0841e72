import type { JsonMembers, JsonValue } from '../../src/body/protocol.js';

export type Tile = { readonly x: number; readonly y: number };
export type Thing = Tile & {
  readonly kind: string;
  readonly name: string;
  /** Custom properties by their names. */
  readonly properties: ReadonlyMap<string, JsonValue>;
};

/** A map as this game plays it. It reads no more of Tiled's format than it needs. */
export type Place = {
  readonly width: number;
  readonly height: number;
  readonly walls: ReadonlySet<string>;
  readonly things: readonly Thing[];
  readonly spawn: Tile;
  readonly hp: number;
};

const HP = 100;

export const tileKey = ({ x, y }: Tile): string => `${String(x)},${String(y)}`;

const isMembers = (value: JsonValue | undefined): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: JsonValue | undefined): readonly JsonMembers[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).filter(isMembers) : [];
const numberOf = (value: JsonValue | undefined, otherwise = 0): number =>
  typeof value === 'number' ? value : otherwise;
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

const propertiesOf = (of: JsonMembers): ReadonlyMap<string, JsonValue> =>
  new Map(listOf(of['properties']).map(({ name, value }) => [textOf(name), value ?? null]));

/** @throws Error that says what it does not read */
export const readTiledMap = (map: JsonMembers): Place => {
  const [width, height] = [numberOf(map['width']), numberOf(map['height'])];
  const [tileWidth, tileHeight] = [numberOf(map['tilewidth'], 1), numberOf(map['tileheight'], 1)];
  const walls = new Set<string>();
  const things: Thing[] = [];
  for (const { name, data, objects } of listOf(map['layers'])) {
    if (name === 'collision') {
      if (!Array.isArray(data)) throw new Error('This game reads tile layers as CSV only (Map > Map Properties).');
      data.forEach((tile, index) => {
        if (tile !== 0) walls.add(tileKey({ x: index % width, y: Math.floor(index / width) }));
      });
    }
    for (const object of listOf(objects)) {
      const kind = textOf(object['class']) || textOf(object['type']);
      const named = textOf(object['name']) || `${kind}-${String(numberOf(object['id']))}`;
      const x = Math.floor(numberOf(object['x']) / tileWidth);
      const y = Math.floor(numberOf(object['y']) / tileHeight);
      things.push({ kind, name: named, x, y, properties: propertiesOf(object) });
    }
  }
  const spawn = things.find(({ kind }) => kind === 'spawn');
  if (spawn === undefined) throw new Error('The map has no spawn.');
  return { width, height, walls, things, spawn, hp: numberOf(propertiesOf(map).get('hp'), HP) };
};
