import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { pagesOf } from '../../kernel/streams/stream-pages.js';
import type { TurnView } from './turn-view.js';

/** The limit of a verdict's append, in events: the verdict, a state change, the memories. */
const APPENDED = 32;
/** How far beyond its last round a turn's notes are looked for, and how far in total, in events of the stream. */
const NOTED_WITHIN = 1_000;
const WALKED = 20_000;

/** The events that end a turn without a verdict. */
const ENDINGS: readonly string[] = ['TurnExpired', 'TurnFailed'];
/** The events of a turn outside its rounds. */
const NOTES: ReadonlySet<string> = new Set(['RulesetMissing', 'TapeMismatchNoticed', ...ENDINGS, 'AnswerMissing']);

/** The events of a turn, in order: those of its rounds, those appended with the last round, and the notes about it. */
export const turnEvents = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  turn: Pick<TurnView, 'turnId' | 'rounds' | 'state'>,
): Promise<readonly RecordedEvent[]> => {
  const found = [...(await ofRounds(events, stream, turn)), ...(await notesOf(events, stream, turn))];
  return [...new Map(found.map((event) => [event.revision, event])).values()]
    .filter(({ data }) => data['turnId'] === turn.turnId)
    .sort((left, right) => left.revision - right.revision);
};

const ofRounds = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  { rounds }: Pick<TurnView, 'rounds'>,
): Promise<readonly RecordedEvent[]> => {
  const pages = await Promise.all(
    rounds.map(({ revision }, index) =>
      events.read(stream, {
        direction: 'forwards',
        from: revision,
        limit: index === rounds.length - 1 ? APPENDED : 1,
      }),
    ),
  );
  return pages.flatMap((page) => page.events);
};

/** A missing ruleset is noted before the opening, a contradiction at any time, and a turn without a verdict ends with a note of its end. */
const notesOf = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
  { turnId, rounds, state }: Pick<TurnView, 'turnId' | 'rounds' | 'state'>,
): Promise<readonly RecordedEvent[]> => {
  const from = Math.max((rounds[0]?.revision ?? 0) - 1, 0);
  const enough = (rounds.at(-1)?.revision ?? 0) + NOTED_WITHIN;
  const notes: RecordedEvent[] = [];
  for await (const page of pagesOf(events, stream, { direction: 'forwards', from }, WALKED)) {
    notes.push(...page.events.filter(({ type, data }) => NOTES.has(type) && data['turnId'] === turnId));
    const isThrough = (state !== 'expired' && state !== 'failed') || notes.some(({ type }) => ENDINGS.includes(type));
    if (isThrough && (page.events.at(-1)?.revision ?? 0) >= enough) break;
  }
  return notes;
};
