/** The limit of a player's id or name, in UTF-16 units. */
export const PLAYER_CHARS = 256;

/** Whether a value can be the id or the name of a player. */
export const isPlayerText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= PLAYER_CHARS &&
  value.isWellFormed() &&
  !/\p{Cc}/u.test(value);
