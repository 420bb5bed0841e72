import type { Speaker } from '../../npcs/domain/events.js';
import { isStranger, toldApart } from '../../npcs/domain/told-apart.js';

/** What everybody may hear, whoever told it, if the game stored it. The model of a turn could be talked into writing this type. */
const SHARED_TYPE = 'knowledge';

type Told = {
  readonly type: string;
  /** Of a turn of this mind. */
  readonly turnId: string | null;
  readonly player?: Speaker;
  /** Of an imported memory: where it was stored. */
  readonly source?: { readonly turnId: string | null };
};

const EVERYBODY = 'everybody';
/** Never equal to EVERYBODY, whatever the id. */
const onlyPlayer = (playerId: string): string => `player ${playerId}`;

/**
 * Who may hear a memory: everybody, or the player who told it; null if no player may. The projection `memories` stores it, so whoever changes the rule
 * versions that projection.
 */
export const hearersOf = ({ type, turnId, player, source }: Told): string | null => {
  const teller = toldApart(player);
  const isOfGame = turnId === null && (source?.turnId ?? null) === null;
  if (teller === undefined || (type === SHARED_TYPE && isOfGame)) return EVERYBODY;
  return isStranger(teller) ? null : onlyPlayer(teller);
};

/** The hearers among whom a player is. */
export const hearersWith = (playerId: string): readonly string[] => [EVERYBODY, onlyPlayer(playerId)];

/** Whether a memory is kept from a player, because another one told it. Without a player, nothing is kept from anybody. */
export const isKeptFrom = (playerId: string | undefined, memory: Told): boolean => {
  if (playerId === undefined) return false;
  const hearers = hearersOf(memory);
  return hearers === null || !hearersWith(playerId).includes(hearers);
};

/** Whether everybody may hear a memory, also somebody whom nobody knows. */
export const isForEverybody = (memory: Told): boolean => hearersOf(memory) === EVERYBODY;
