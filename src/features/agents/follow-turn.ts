import { npcEvents, type RecalledMemory, type Verdict } from '../npcs/domain/events.js';
import { parseProcessId } from '../../kernel/crypto/process-id.js';
import type { EventStore } from '../../ports/event-store.js';

/** The events in an agent's turn, as they happen. */
export type TurnPhase =
  | { readonly phase: 'recalled'; readonly memories: readonly RecalledMemory[] }
  | { readonly phase: 'ended'; readonly memories: readonly RecalledMemory[]; readonly verdict: Verdict }
  | { readonly phase: 'failed'; readonly reason: string }
  | { readonly phase: 'expired' };

/** The phases of a turn from its stream, past ones first; it ends with the turn, or when the signal aborts. */
export const followTurn = async function* (
  events: Pick<EventStore, 'subscribe'>,
  stream: string,
  turnId: string,
  signal: AbortSignal,
): AsyncGenerator<TurnPhase> {
  const from = parseProcessId(turnId)?.revision ?? 0;
  let memories: readonly RecalledMemory[] = [];
  for await (const batch of events.subscribe({ stream: { name: stream, from }, signal })) {
    for (const recorded of batch) {
      const event = npcEvents.decode(recorded);
      if (recorded.data['turnId'] !== turnId) continue;
      switch (event.type) {
        case 'MemoriesRecalled':
          memories = event.data.memories;
          yield { phase: 'recalled', memories };
          break;
        case 'VerdictReached':
        case 'VerdictRefused':
          yield { phase: 'ended', memories, verdict: event.data.verdict };
          return;
        case 'TurnFailed':
          yield { phase: 'failed', reason: event.data.reason };
          return;
        case 'TurnExpired':
          yield { phase: 'expired' };
          return;
        default:
      }
    }
  }
};
