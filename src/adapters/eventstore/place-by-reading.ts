import type { AppendOutcome, EventStore } from '../../ports/event-store.js';
import { placeAppend, READ_EVENTS, type StoredEvent } from '../shared/append-rules.js';

/** The revision to append behind, or what the stream already says to the append. */
type ReadPlace = { readonly expected: number | 'no_stream' } | AppendOutcome;

/**
 * Places an append that names no revision: its ids are looked for in the whole stream, as the port says. The server would look for them only among
 * those that it wrote since its start.
 */
export const placeByReading = async (
  reader: Pick<EventStore, 'read'>,
  stream: string,
  expected: 'any' | 'stream_exists',
  events: readonly StoredEvent[],
): Promise<ReadPlace> => {
  const standing: { readonly id: string; readonly position: number }[] = [];
  const revisions = new Map<string, number>();
  for (let more = true; more;) {
    const page = await reader.read(stream, { direction: 'forwards', from: standing.length, limit: READ_EVENTS });
    for (const { id, position, revision } of page.events) {
      standing.push({ id, position });
      if (!revisions.has(id)) revisions.set(id, revision);
    }
    more = standing.length <= page.lastRevision;
  }
  const last = standing.length - 1;
  const view = {
    last,
    idAt: (revision: number) => standing[revision]?.id,
    revisionOf: (id: string) => revisions.get(id),
  };
  const ids = events.map(({ id }) => id);
  const place = placeAppend(view, expected, ids);
  if (place === 'conflict') return { ok: false, actual: last };
  if (place === 'write') return { expected: last < 0 ? 'no_stream' : last };
  const revision = place.repeatedFrom + ids.length - 1;
  return { ok: true, revision, position: standing[revision]?.position ?? 0, repeated: true };
};
