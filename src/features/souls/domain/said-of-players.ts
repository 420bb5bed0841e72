import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';
import type { SoulMemory } from './document.js';
import type { Player, PlayerIndex } from './player-index.js';
import { isOfPlayer, namesPlayers } from '../../npcs/domain/player-names.js';
import { isStranger } from '../../npcs/domain/told-apart.js';
import type { SoulState } from './soul-state.js';
import { pointerPart } from '../../../kernel/base/json-pointer.js';

/** Why a memory is about a player. */
export type AboutBy = 'text' | 'metadata' | 'turn';
/** The players that a memory is about. `isUntold`: it came from a turn, or from a player, that cannot be read here. */
export type AboutPlayers = {
  readonly players: readonly Player[];
  readonly by: readonly AboutBy[];
  readonly isUntold: boolean;
};

/** The players that each turn named, by its id. */
export type TurnPlayers = ReadonlyMap<string, readonly Player[]>;

/** A position in a value that names or mentions a player, as a JSON pointer (RFC 6901). */
export type PlayerPlace = { readonly pointer: string; readonly players: readonly Player[] };

/** A value without the positions that contain players. `pointer` is the position of the value itself, and is not searched. */
const looked = (value: Json, pointer: string, index: PlayerIndex, found: (place: PlayerPlace) => void): Json => {
  /** An id may be a number. */
  const spokenIn = (text: Json): readonly Player[] =>
    typeof text === 'string' || typeof text === 'number' ? index.spokenOf(String(text)) : [];
  /** The players of a member that is about players as a whole; null for any other member. */
  const ownersOf = (member: string, inner: Json, isRelation: boolean): readonly Player[] | null => {
    if (isRelation) return index.note({ relationships: { [member]: null } });
    if (namesPlayers(member)) return inner === null ? null : index.note({ [member]: inner });
    // In a list, nothing shows who is a player.
    if (member === 'relationships' && !isObject(inner)) return inner === null ? null : index.note({ [member]: inner });
    if (isOfPlayer(inner)) return index.note(inner);
    const spoken = [member, inner].flatMap(spokenIn);
    return spoken.length === 0 ? null : [...new Set(spoken)];
  };
  if (Array.isArray(value)) {
    return (value as readonly Json[]).flatMap((item, at) => {
      const place = `${pointer}/${String(at)}`;
      const players = isOfPlayer(item) ? index.note(item) : spokenIn(item);
      if (players.length === 0) return [looked(item, place, index, found)];
      found({ pointer: place, players });
      return [];
    });
  }
  if (!isObject(value)) return value;
  const areRelations = pointer.endsWith('/relationships');
  const kept = Object.entries(value).flatMap(([member, inner]): [string, Json][] => {
    const place = `${pointer}/${pointerPart(member)}`;
    const players = ownersOf(member, inner, areRelations);
    if (players === null) return [[member, looked(inner, place, index, found)]];
    found({ pointer: place, players });
    return [];
  });
  return Object.fromEntries(kept);
};

/** An object without its members, at any depth, that name or mention a player. */
export const withoutPlayers = (value: JsonObject, index: PlayerIndex): JsonObject =>
  looked(value, '', index, () => undefined) as JsonObject;

/** The positions of players in the state of a soul. Defaults are not about anyone. */
export const placesInState = ({ extra, inventory, skills, relationships }: SoulState, index: PlayerIndex) => {
  const places: PlayerPlace[] = [];
  for (const [member, value] of Object.entries({ extra, inventory, relationships, skills }))
    looked(value, `/${member}`, index, (place) => places.push(place));
  return places;
};

/** The positions of players in the facts of a soul. */
export const placesInFacts = (facts: JsonObject, index: PlayerIndex): readonly PlayerPlace[] => {
  const places: PlayerPlace[] = [];
  looked(facts, '', index, (place) => places.push(place));
  return places;
};

/** The players that a memory is about. */
export const aboutPlayers = (
  { text, type, metadata, player, cause }: SoulMemory,
  index: PlayerIndex,
  turns: TurnPlayers,
): AboutPlayers => {
  // Of an imported memory, the player is known although the turn is not.
  const told = player === undefined ? [] : index.note({ player });
  // Whose words they are, nobody can say.
  const isByStranger = player !== undefined && isStranger(player.id);
  const turn = cause.turnId === null ? [] : turns.get(cause.turnId);
  const inMetadata: Player[] = [];
  looked(metadata, '', index, ({ players }) => inMetadata.push(...players));
  const inWords = [...new Set([text, type].flatMap(index.spokenOf))];
  const found = { text: inWords, metadata: inMetadata, turn: [...told, ...(turn ?? [])] };
  const by = (['text', 'metadata', 'turn'] as const).filter((way) => found[way].length > 0);
  return { players: [...new Set(by.flatMap((way) => found[way]))], by, isUntold: turn === undefined || isByStranger };
};
