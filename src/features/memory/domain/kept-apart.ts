import type { Speaker } from '../../npcs/domain/events.js';
import { isStranger, toldApart } from '../../turns/domain/speaker.js';

/** What everybody may hear, whoever told it, if the game stored it. The model of a turn could be talked into writing this type. */
const SHARED_TYPE = 'knowledge';

type Told = { readonly type: string; readonly turnId: string | null; readonly player?: Speaker };

/** Whether a memory is kept from a player, because another one told it. Without a player, nothing is kept from anybody. */
export const isKeptFrom = (playerId: string | undefined, { type, turnId, player }: Told): boolean => {
  const teller = toldApart(player);
  if (playerId === undefined || teller === undefined || (type === SHARED_TYPE && turnId === null)) return false;
  return teller !== playerId || isStranger(teller);
};
