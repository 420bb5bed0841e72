import type { JsonObject } from '../shared/json.js';
import { MAX_LAYERS, MAX_OBJECTS } from './level-bounds.js';
import { type MapRemarks, WHOLE_MAP } from './level-problem.js';
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
