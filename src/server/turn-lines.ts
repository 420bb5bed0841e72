import { LRUCache } from 'lru-cache';

import { npcEvents } from '../features/npcs/domain/events.js';
import { parseNpcStream } from '../kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';

/** For how many open turns the observation is remembered for their last line, and how much of a text a line shows. */
const TURNS_REMEMBERED = 10_000;
const SHOWN_CHARACTERS = 72;

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= SHOWN_CHARACTERS) return line;
  // A slice would keep the whole text in memory, which may be a megabyte.
  return `${Buffer.from(line.slice(0, SHOWN_CHARACTERS - 1)).toString()}…`;
};

/** Makes a readable line from each turn that ends; null for other events. It remembers the observations of open turns. */
export const createTurnLines = (): ((event: RecordedEvent) => string | null) => {
  const opened = new LRUCache<string, string>({ max: TURNS_REMEMBERED });
  const heard = (turnId: string): string => {
    const observation = opened.get(turnId) ?? '';
    opened.delete(turnId);
    return observation;
  };
  return (recorded) => {
    const npcId = parseNpcStream(recorded.stream)?.npcId;
    if (npcId === undefined) return null;
    const event = npcEvents.decode(recorded);
    const line = (said: string, then: string): string =>
      `${recorded.meta.at.slice(11, 19)}  ${npcId}  ${said === '' ? '' : `“${short(said)}” → `}${then}`;
    switch (event.type) {
      case 'TurnOpened':
        opened.set(event.data.turnId, short(event.data.observation));
        return null;
      case 'VerdictReached': {
        const { action, dialogue } = event.data.verdict;
        const target = action?.target === undefined || action.target === '' ? '' : ` ${action.target}`;
        const said = event.data.asked?.observation ?? heard(event.data.turnId);
        return line(said, `${action?.type ?? 'SPEAK'}${target}${dialogue === '' ? '' : ` “${short(dialogue)}”`}`);
      }
      case 'VerdictRefused': {
        const said = event.data.asked?.observation ?? heard(event.data.turnId);
        return line(said, `refused: ${short(event.data.verdict.dialogue)}`);
      }
      case 'TurnFailed':
        return line(heard(event.data.turnId), `failed: ${short(event.data.reason)}`);
      case 'TurnExpired':
        return line(heard(event.data.turnId), 'expired: the body did not respond in time');
      default:
        return null;
    }
  };
};

/** Prints each turn that ends from now on, until `signal` aborts. */
export const printTurns = async (
  events: EventStore,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  const lineOf = createTurnLines();
  for await (const batch of events.subscribe({ after: await events.lastPosition(), signal })) {
    for (const event of batch) {
      const line = lineOf(event);
      if (line !== null) print(line);
    }
  }
};
