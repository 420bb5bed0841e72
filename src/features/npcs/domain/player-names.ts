import { isObject, type Json } from '../../../kernel/base/json.js';

/** A player whom a body named: by an id, a name, or both. */
export type NamedPlayer = { readonly id?: string; readonly name?: string };

/** The members that name players, at any depth. */
const NAMING: ReadonlySet<string> = new Set(['player', 'players', 'playerId', 'playerName']);
export const namesPlayers = (member: string): boolean => NAMING.has(member);

/** Whether a value is an object that names a player itself, not only in a nested object: all of its data is then about that player. */
export const isOfPlayer = (value: Json): boolean => isObject(value) && Object.keys(value).some(namesPlayers);

/** The limit of an id or a name, in UTF-16 units. */
const MAX_NAME = 256;

const nameIn = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' && value.length <= MAX_NAME ? value : undefined;
const idIn = (value: Json | undefined): string | undefined =>
  typeof value === 'number' ? String(value) : nameIn(value);

type TellsPlayer = (player: NamedPlayer) => void;

const tell = (found: TellsPlayer, id: string | undefined, name: string | undefined): void => {
  if (id !== undefined && name !== undefined) found({ id, name });
  else if (id !== undefined) found({ id });
  else if (name !== undefined) found({ name });
};

/** A player as the value of `player`, or an item of `players`: a string may be an id or a name, and nothing shows which. */
const tellPlayer = (found: TellsPlayer, value: Json): void => {
  if (isObject(value))
    tell(found, idIn(value['id'] ?? value['playerId']), nameIn(value['name'] ?? value['playerName']));
  else tell(found, undefined, idIn(value));
};

/** The others in a relationship: the names of members, or the strings in a list, including those in its objects. */
const relatedIn = (value: Json): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((item) => (isObject(item) ? Object.values(item) : [item]).filter(isText));
  return isObject(value) ? Object.keys(value) : [];
};
const isText = (value: Json): value is string => typeof value === 'string';

/**
 * Calls `found` for every player that a value names, at any depth. `playerId` and `playerName` in the same object are one player.
 * @param related called for the others in a relationship, who need not be players
 */
export const eachPlayerIn = (value: Json, found: TellsPlayer, related = found): void => {
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) eachPlayerIn(item, found, related);
    return;
  }
  if (!isObject(value)) return;
  tell(found, idIn(value['playerId']), nameIn(value['playerName']));
  // Listing the entries of an object with thousands of members costs twice as much.
  for (const member of Object.keys(value)) {
    const inner = value[member] ?? null;
    if (member === 'player') tellPlayer(found, inner);
    if (member === 'players' && Array.isArray(inner)) {
      for (const item of inner as readonly Json[]) tellPlayer(found, item);
    }
    // Nothing distinguishes players from others here.
    if (member === 'relationships') for (const name of relatedIn(inner)) tellPlayer(related, name);
    eachPlayerIn(inner, found, related);
  }
};
