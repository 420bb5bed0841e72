import type { EventStore } from '../../ports/event-store.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import { npcEvents, type Exchange, type Speaker } from '../npcs/domain/events.js';
import { exchangeOf, fittingExchanges, unbroken } from './domain/conversation.js';
import { isStranger } from '../npcs/domain/told-apart.js';
import { partnerKey, type TurnKey, type TurnPlace } from './turn-key.js';

/** ANIMA_CONVERSATION_EXCHANGES and ANIMA_CONVERSATION_PAUSE_MINUTES. */
export type ConversationLimits = { readonly exchanges: number; readonly pauseMs: number };

export type ConversationDeps = {
  readonly events: Pick<EventStore, 'read'>;
  readonly conversation: ConversationLimits;
};

type Ended = TurnKey & { readonly ended: TurnPlace };

const hasVerdict = (turn: TurnKey): turn is Ended => turn.ended !== undefined;

/** A turn as an exchange, and the exchanges that it was opened with. */
const readTurnAgain = async (
  { events }: ConversationDeps,
  stream: string,
  { turnId, began, ended }: Ended,
): Promise<readonly Exchange[]> => {
  const [opening, decided] = await Promise.all(
    [began, ended].map(async ({ revision }) => {
      const event = await eventAt(events, stream, revision);
      return event === undefined ? undefined : npcEvents.decode(event);
    }),
  );
  if (opening?.type !== 'TurnOpened') return [];
  const { observation, conversation = [] } = opening.data;
  const hasEnded = decided?.type === 'VerdictReached' || decided?.type === 'VerdictRefused';
  return hasEnded ? [...conversation, exchangeOf(turnId, observation, decided.data.verdict)] : conversation;
};

/**
 * What was said to a mind before now, oldest first. The last turn has recorded the turns before it, so usually no other is read.
 * An exchange of which a memory was retracted is left out.
 * @param recent the mind's recent turns
 * @param player with whom; undefined: with nobody known. With a player whose name cannot be read, nothing was said before
 */
export const conversationSoFar = async (
  deps: ConversationDeps,
  stream: string,
  recent: readonly TurnKey[],
  { player, nowMs }: { readonly player: Speaker | undefined; readonly nowMs: number },
): Promise<readonly Exchange[]> => {
  if (player !== undefined && isStranger(player.id)) return [];
  const { partner } = partnerKey(player);
  const ended = recent.filter(hasVerdict).filter((turn) => turn.partner === partner && turn.retracted !== true);
  ended.sort((one, other) => other.ended.revision - one.ended.revision);
  const spoken = ended.map((turn) => ({ turn, beganMs: turn.began.atMs, endedMs: turn.ended.atMs }));
  const known = new Map<string, Exchange>();
  const newestFirst: Exchange[] = [];
  for (const { turn } of unbroken(spoken, nowMs, deps.conversation)) {
    if (!known.has(turn.turnId)) {
      for (const exchange of await readTurnAgain(deps, stream, turn)) known.set(exchange.turnId, exchange);
    }
    const exchange = known.get(turn.turnId);
    if (exchange !== undefined) newestFirst.push(exchange);
  }
  return fittingExchanges(newestFirst);
};
