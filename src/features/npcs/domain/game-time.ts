import type { Json, JsonObject } from '../../../kernel/base/json.js';

/** The time of the game as it reports it: a number of seconds from a beginning of its own, or a text in RFC 3339. */
export type GameTime = number | string;

/** The longest text that RFC_3339 matches. */
export const GAME_TIME_CHARS = 35;
/** Bounded, because it is recorded with every memory. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

const secondsIn = (text: string): number => Date.parse(text.toUpperCase().replace(' ', 'T')) / 1_000;

const isGameTime = (value: Json | undefined): value is GameTime =>
  typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && RFC_3339.test(value);

/** The time that the facts of a mind report as `time`; undefined if the game reports none, or in another form. */
export const gameTimeIn = (facts: JsonObject | null): GameTime | undefined => {
  const time = facts?.['time'];
  if (!isGameTime(time)) return undefined;
  return typeof time === 'number' || Number.isFinite(secondsIn(time)) ? time : undefined;
};

/** The type of memories that have no age: what an NPC knows, it has always known. */
export const TIMELESS_TYPE = 'knowledge';

/** What is recorded with a new memory of this type. */
export const gameTimeOf = (type: string, facts: JsonObject | null): GameTime | undefined =>
  type === TIMELESS_TYPE ? undefined : gameTimeIn(facts);

/** How many seconds of the game lie between two of its times; null if they have different forms, so that they cannot be compared. */
export const gameSecondsBetween = (earlier: GameTime, later: GameTime): number | null => {
  if (typeof earlier === 'number' && typeof later === 'number') return later - earlier;
  return typeof earlier === 'string' && typeof later === 'string' ? secondsIn(later) - secondsIn(earlier) : null;
};
