import type { Json, JsonObject } from '../shared/json.js';
import { MAX_TILESETS } from './level-bounds.js';
import { type MapRemarks, WHOLE_MAP } from './level-problem.js';
import { classIn, type MapProperties, mapNumber, objectsIn, propertiesIn, textIn } from './map-members.js';
import { unturned } from './map-walls.js';

/** What an object that shows a tile has from its tile. `isElsewhere`: the tileset is a file of its own, which is never fetched. */
export type TileKind = {
  readonly className: string;
  readonly properties: MapProperties;
  /** Where within its picture an object of this tile has its x and y: `bottomleft`, unless the tileset says otherwise. */
  readonly alignment: string;
  readonly isElsewhere: boolean;
};

const NO_PROPERTIES: MapProperties = new Map<string, Json>();

/** The kinds of tiles that a map's tilesets say, by the tile's number. */
export const tileKindsOf = (map: JsonObject, remarks: MapRemarks): ((tile: number) => TileKind) => {
  const all = objectsIn(map['tilesets']);
  if (all.length > MAX_TILESETS) {
    remarks.refuse(WHOLE_MAP, `The map has more than ${MAX_TILESETS} tilesets: remove those that it does not use.`);
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
