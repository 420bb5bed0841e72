import type { JsonObject } from '../../../kernel/base/json.js';
import type { Tile } from './level.js';
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
import { type MapPlace, type MapRemarks, quoted } from './problem.js';
import type { TileKind } from './map-tiles.js';

/** The classes of the objects of a level. */
const thingClasses = ['spawn', 'goal', 'item', 'door', 'hazard', 'npc', 'trigger'] as const;
type ThingClass = (typeof thingClasses)[number];

/** An object that is part of the level: the tile of its upper left corner, and of its lower right one. */
export type MapThing = {
  readonly thing: ThingClass;
  /** Its name, or its class and the number that Tiled gave it. */
  readonly id: string;
  readonly place: MapPlace;
  /**
   * Whether it was refused because of its drawing: its position is then meaningless, but recording that it exists keeps others from being refused
   * because of it.
   */
  readonly misshapen: boolean;
  readonly at: Tile;
  readonly to: Tile;
  readonly properties: MapProperties;
};

const isThingClass = (word: string): word is ThingClass => (thingClasses as readonly string[]).includes(word);

const OTHER_SHAPES = ['polygon', 'polyline', 'ellipse', 'capsule', 'text'];

/** In pixels. */
type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

/** A tile object's x and y refer to a point in its picture that the tileset names: the lower left corner by default. */
const pictureBox = (object: JsonObject, alignment: string): Box => {
  const [width, height] = [mapNumber(object['width']), mapNumber(object['height'])];
  const across = alignment.endsWith('right') ? 1 : /^(top|bottom|center)$/.test(alignment) ? 0.5 : 0;
  const down = alignment.startsWith('top') ? 0 : /^(left|right|center)$/.test(alignment) ? 0.5 : 1;
  return { left: mapNumber(object['x']) - width * across, top: mapNumber(object['y']) - height * down, width, height };
};

const boxOf = (object: JsonObject, kind: TileKind | null): Box =>
  kind === null
    ? {
        left: mapNumber(object['x']),
        top: mapNumber(object['y']),
        width: mapNumber(object['width']),
        height: mapNumber(object['height']),
      }
    : pictureBox(object, kind.alignment);

const tilesUnder = (
  { left, top, width, height }: Box,
  { tileWidth, tileHeight }: MapFrame,
): { readonly at: Tile; readonly to: Tile } => {
  const at = { x: Math.floor(left / tileWidth), y: Math.floor(top / tileHeight) };
  const to = {
    x: Math.max(at.x, Math.ceil((left + width) / tileWidth) - 1),
    y: Math.max(at.y, Math.ceil((top + height) / tileHeight) - 1),
  };
  return { at, to };
};

/** A picture that is higher than a tile is on its lowest one. */
const standing = (box: Box, { tileHeight }: MapFrame): Box => {
  const height = Math.min(box.height, tileHeight);
  return { ...box, top: box.top + box.height - height, height };
};

const TEMPLATE =
  'The object is an instance of a template in another file. Right-click it in Tiled and choose Detach, or enable "Detach templates" in the export options.';

/** Why an object of the level cannot be placed; null if it can. */
const whyMisshapen = (object: JsonObject, shifted: boolean): string | null => {
  if (object['template'] !== undefined) return TEMPLATE;
  if (shifted) return 'The layer of the object, or a group around it, has an offset. Set it to 0.';
  if (OTHER_SHAPES.some((shape) => object[shape] !== undefined && object[shape] !== false))
    return 'Draw the object as a point or a rectangle.';
  return mapNumber(object['rotation']) === 0 ? null : 'The object is rotated. Set its rotation to 0.';
};

/** Why an object is not part of the level although its class may be one. */
const passedOver = (object: JsonObject, kind: TileKind | null): string => {
  const word = classIn(object) || (kind?.className ?? '');
  if (word !== '')
    return `The object is ignored, because its class ${quoted(word)} is not one of ${thingClasses.join(', ')}.`;
  if (object['template'] !== undefined) return TEMPLATE;
  const elsewhere = kind?.isElsewhere === true ? ' If its tile has a class, embed the tileset in the map.' : '';
  return `The object is ignored, because it has no class.${elsewhere}`;
};

/** The objects that make a level, in the order of the map. */
export const thingsOf = (
  frame: MapFrame,
  layers: readonly MapLayer[],
  kindOf: (tile: number) => TileKind,
  remarks: MapRemarks,
): readonly MapThing[] =>
  layers.flatMap(({ name, shifted, layer }) =>
    objectsIn(layer['objects']).flatMap((object) => {
      const kind = typeof object['gid'] === 'number' ? kindOf(object['gid']) : null;
      const thing = (classIn(object) || (kind?.className ?? '')).trim().toLowerCase();
      const numbered = `${isThingClass(thing) ? thing : 'object'}-${mapNumber(object['id'])}`;
      const id = textIn(object['name']).trim() || numbered;
      const place = { layer: name, object: id };
      if (!isThingClass(thing)) {
        remarks.warn(place, passedOver(object, kind));
        return [];
      }
      const wrong = whyMisshapen(object, shifted);
      if (wrong !== null) remarks.refuse(place, wrong);
      const box = boxOf(object, kind);
      const standsOnOne = kind !== null && thing !== 'trigger';
      return {
        thing,
        id,
        place,
        misshapen: wrong !== null,
        ...tilesUnder(standsOnOne ? standing(box, frame) : box, frame),
        properties: new Map([...(kind?.properties ?? []), ...propertiesIn(object)]),
      };
    }),
  );
