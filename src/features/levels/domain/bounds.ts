/** The bounds of a level (docs/reference/formats/level.md). */

/** Bytes of the JCS form of its map. */
export const MAP_BYTES = 2 * 1024 * 1024;
/** Bytes of all maps of a tenant, in all versions. */
export const TENANT_MAP_BYTES = 256 * 1024 * 1024;
/** Bytes of the levels that are kept for the sessions of a tenant, in addition to its maps. */
export const PLAYED_BYTES = 64 * 1024 * 1024;
export const MAX_VERSIONS = 10_000;
/** The limit of a row and of a column, in tiles. */
export const MAX_TILES_ACROSS = 256;
/** The limit of a tile's side, in pixels. */
export const MAX_TILE_PIXELS = 4_096;
/** The limit of objects in all layers, of any class. */
export const MAX_OBJECTS = 1_000;
/** The limit of layers in all groups, and of tilesets. */
export const MAX_LAYERS = 1_000;
export const MAX_TILESETS = 256;
export const MAX_NPCS = 32;
/** The limit of a persona, and of a trigger's text or one line of an NPC, in UTF-16 units. */
export const PERSONA_CHARS = 4_000;
export const LINE_CHARS = 1_000;
/** The number of lines of one NPC. */
export const MAX_LINES = 100;
/** The largest number of initial, healed or lost hit points. */
export const MAX_HIT_POINTS = 1_000_000;
/** The limit of the JSON text of a ruleset, in UTF-16 units. */
export const RULES_CHARS = 131_072;
