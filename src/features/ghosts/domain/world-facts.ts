import type { Level } from '../../levels/domain/level.js';
import { jsonBytes, type Json, type JsonObject } from '../../../kernel/base/json.js';
import { isDown, type World } from './world.js';

/** The limit of one list, in bytes of JSON: the facts of each mind are in each checkpoint. */
const LIST_BYTES = 400;

/** The newest names that fit, in their order. */
const newest = (names: readonly string[]): readonly string[] => {
  let bytes = 2;
  const first = names.findLastIndex((name) => {
    bytes += jsonBytes(name) + 1;
    return bytes > LIST_BYTES;
  });
  return names.slice(first + 1);
};

const namesAt = (things: readonly { readonly id: string }[], positions: readonly number[]): readonly string[] =>
  newest(positions.map((position) => things[position]?.id ?? ''));

/** What has happened in a world, as rules read it in `facts.world`: lists of the names of its objects. */
export const worldFactsOf = (level: Level, world: World): Readonly<Record<string, readonly string[]>> => ({
  opened: namesAt(level.doors, world.opened),
  held: namesAt(level.items, world.held),
  spent: namesAt(level.items, world.spent),
  reached: namesAt(level.goals, world.reached),
  noticed: namesAt(level.triggers, world.noticed),
  beaten: newest(level.npcs.flatMap(({ id }, npc) => (isDown(world, npc) ? [id] : []))),
});

const isSameList = (known: Json | undefined, names: readonly string[]): boolean =>
  JSON.stringify(known ?? []) === JSON.stringify(names);

/** What a mind with these facts does not know yet of a world, as a merge patch; null if it knows all of it. */
export const worldReport = (level: Level, world: World, facts: JsonObject | null): JsonObject | null => {
  const { world: known = {} } = (facts ?? {}) as { readonly world?: JsonObject };
  const news = Object.entries(worldFactsOf(level, world)).filter(([name, names]) => !isSameList(known[name], names));
  return news.length === 0 ? null : { world: Object.fromEntries(news) };
};
