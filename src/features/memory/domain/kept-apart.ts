import type { Speaker } from '../../npcs/domain/events.js';
import { toldApart } from '../../turns/domain/speaker.js';

/** What everybody may hear, whoever told it. */
const SHARED_TYPE = 'knowledge';

/** Whether a memory is kept from a player, because another one told it. Without a player, nothing is kept from anybody. */
export const isKeptFrom = (
  playerId: string | undefined,
  { type, player }: { readonly type: string; readonly player?: Speaker },
): boolean => {
  const teller = toldApart(player);
  return playerId !== undefined && teller !== undefined && teller !== playerId && type !== SHARED_TYPE;
};
