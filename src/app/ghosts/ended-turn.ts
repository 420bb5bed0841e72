import type { Action } from '../../domain/bridge/action.js';
import type { RemoteStep } from '../../domain/ghost/remote-play.js';
import type { PlayedTurn } from '../../domain/ghost/session-events.js';
import { readTold } from '../../domain/ghost/told.js';
import type { Level } from '../../domain/level/level.js';
import { npcEvents } from '../../domain/npc/decoder.js';
import { jsonBytes } from '../../domain/shared/json-bytes.js';
import { parseProcessId } from '../../domain/shared/process-id.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { besidesVerdict } from '../../../workflows/turn-events.js';
import { pagesOf } from '../streams/stream-pages.js';
import { decidedIn, GHOST } from './session.js';
import { compact } from './session-turn.js';

/** What the events of one turn may take in its step, in bytes of JSON: a checkpoint may stand beside them. */
const TURN_BYTES = 400_000;

/** A verdict in the stream of a mind, by its turn and its revision. */
type EndedBy = { readonly turnId: string; readonly revision: number };

/**
 * The first verdict of a mind's stream after a revision; `looked` is the last revision that was looked at. Raises what the event store raises.
 */
export const nextVerdict = async (
  events: Pick<EventStore, 'read'>,
  mind: string,
  after: number,
): Promise<{ readonly verdict: EndedBy | null; readonly looked: number }> => {
  let looked = after;
  for await (const page of pagesOf(events, mind, { direction: 'forwards', from: after + 1 })) {
    for (const recorded of page.events) {
      const event = npcEvents.decode(recorded);
      looked = recorded.revision;
      if (event.type === 'VerdictReached' || event.type === 'VerdictRefused')
        return { verdict: { turnId: event.data.turnId, revision: looked }, looked };
    }
  }
  return { verdict: null, looked };
};

/** The events of an ended turn, from its opening to the end of the append that has its verdict. Raises what the event store raises. */
const eventsOfTurn = async (
  events: Pick<EventStore, 'read'>,
  mind: string,
  { turnId, revision }: EndedBy,
): Promise<readonly RecordedEvent[]> => {
  const own: RecordedEvent[] = [];
  // A turn's id carries a revision of its stream before its first event.
  const from = parseProcessId(turnId)?.revision ?? 0;
  for await (const page of pagesOf(events, mind, { direction: 'forwards', from })) {
    for (const event of page.events) {
      if (event.revision > revision && !besidesVerdict.has(event.type)) return own;
      if (event.data['turnId'] === turnId) own.push(event);
    }
  }
  return own;
};

const withoutInstruction = (recorded: RecordedEvent): PlayedTurn['events'][number] => ({
  ...compact(recorded),
  version: recorded.meta.schemaVersion,
});

/** What of a turn stands in its step: what would not fit has only its turn's id. */
const shortened = (own: readonly RecordedEvent[]): PlayedTurn['events'] => {
  let left = TURN_BYTES;
  return own.map((recorded) => {
    const whole = withoutInstruction(recorded);
    const bytes = jsonBytes(whole);
    if (bytes > left) return { ...whole, data: { turnId: recorded.data['turnId'] ?? null } };
    left -= bytes;
    return whole;
  });
};

type EndedTurn = { readonly turn: PlayedTurn; readonly action: Action | null; readonly remote: RemoteStep };

/** A turn of a session's mind as a step of the session. Raises what the event store raises. */
export const endedTurn = async (
  events: Pick<EventStore, 'read'>,
  mind: string,
  level: Level,
  ended: EndedBy,
): Promise<EndedTurn> => {
  const own = await eventsOfTurn(events, mind, ended);
  const { verdict, grounds } = decidedIn({ npcId: GHOST, events: own.map(withoutInstruction) });
  const context = own.find(({ type }) => type === 'TurnOpened')?.data['context'] ?? {};
  return {
    turn: { npcId: GHOST, events: shortened(own) },
    action: verdict.valid ? verdict.action : null,
    remote: {
      told: readTold(level, context),
      decided: {
        valid: verdict.valid,
        code: verdict.code ?? null,
        action: (verdict.valid ? verdict.action : verdict.refusedAction)?.type ?? null,
        matched: grounds.rules.flatMap(({ drRuleId, matched }) => (matched ? [drRuleId] : [])),
      },
      through: own.at(-1)?.revision ?? ended.revision,
    },
  };
};
