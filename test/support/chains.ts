import { findBreak } from './find-break.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';

const PAGE = 4_096;

/** What is wrong with the streams of a store: gaps, and broken hash chains; one line each. */
export const breaksIn = async (events: Pick<EventStore, 'readAll'>): Promise<readonly string[]> => {
  const streams = new Map<string, RecordedEvent[]>();
  for (let after = 0; ;) {
    const page = await events.readAll(after, PAGE);
    for (const event of page) {
      const stream = streams.get(event.stream);
      if (stream === undefined) streams.set(event.stream, [event]);
      else stream.push(event);
    }
    if (page.length < PAGE) break;
    after = page.at(-1)?.position ?? after;
  }
  return [...streams].flatMap(([stream, history]) => {
    const gap = history.find(({ revision }, at) => revision !== at);
    const broken = findBreak(history);
    return [
      ...(gap === undefined ? [] : [`${stream} has a gap before revision ${String(gap.revision)}`]),
      ...(broken === null
        ? []
        : [`the chain of ${stream} breaks at revision ${String(broken.revision)} (${broken.type})`]),
    ];
  });
};

/** Checks that every stream of a store is whole. @throws Error that names each break */
export const assertWholeChains = async (events: Pick<EventStore, 'readAll'>): Promise<void> => {
  const breaks = await breaksIn(events);
  if (breaks.length > 0) throw new Error(breaks.join('\n'));
};
