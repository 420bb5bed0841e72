import { isObject, type Json, type JsonObject } from '../shared/json.js';
import { LINE_CHARS, MAX_HIT_POINTS } from './level-bounds.js';
import { type MapPlace, type MapRemarks, quoted } from './level-problem.js';

/** Reading members of a Tiled map, whose shape nobody has checked. */

export const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];

export const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** A number, 0 where there is none. */
export const mapNumber = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);

/** The class of an object or tile: Tiled 1.9 calls it `class`, all others `type`. */
export const classIn = (holder: JsonObject): string => textIn(holder['class']) || textIn(holder['type']);

/** Custom properties, by name. */
export type MapProperties = ReadonlyMap<string, Json>;

/** The properties that a level knows; games have others of their own. */
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

/** Reads properties as what they should be; a wrong one is a problem, and reads as if it were not there. */
export type PropertyReader = {
  text(name: string, most?: number): string;
  flag(name: string): boolean;
  /** Whole hit points, 0 or more. */
  hitPoints(name: string, otherwise: number): number;
};

export const propertyReader = (properties: MapProperties, at: MapPlace, remarks: MapRemarks): PropertyReader => {
  const wrong = (name: string, should: string): void =>
    remarks.refuse(at, `Its property ${quoted(name)} ${should}: change it, or take it away.`);
  return {
    text: (name, most = LINE_CHARS) => {
      const value = properties.get(name) ?? '';
      if (typeof value === 'string' && value.length <= most) return value.trim();
      wrong(name, `has to be a text (string) of ${most} characters at most`);
      return '';
    },
    flag: (name) => {
      const value = properties.get(name) ?? false;
      if (typeof value === 'boolean') return value;
      wrong(name, 'has to be true or false (bool)');
      return false;
    },
    hitPoints: (name, otherwise) => {
      const value = properties.get(name) ?? otherwise;
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_HIT_POINTS) return value;
      wrong(name, `has to be a whole number (int) from 0 to ${MAX_HIT_POINTS}`);
      return otherwise;
    },
  };
};
