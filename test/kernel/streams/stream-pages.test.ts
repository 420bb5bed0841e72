import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { type HistoryEvent, readHistory } from '../../../src/kernel/streams/history.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { mindAsOf } from '../../../src/features/npcs/find-mind.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { pagesOf } from '../../../src/kernel/streams/stream-pages.js';
import { TurnIndex } from '../../../src/features/turns/turn-index.js';
import { readTurn } from '../../../src/features/turns/turn-view.js';
import { makeTurnId } from '../../../src/features/turns/domain/turn-id.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore, ReadRange } from '../../../src/ports/event-store.js';
import { turn } from '../../../workflows/turn/turn.js';
import { event } from '../../support/events.js';
import { actorIdentified, directiveGiven, turnOpened } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { shortPages } from '../../support/short-pages.js';
import { onBehalf, STREAM, texts } from '../../support/streams.js';

const stream = npcStream('studio', 'mira');
const process = makeTurnId('process', -1, 0, 'command');
const directive = makeTurnId('directive', -1, 0, 'command');
const update = (persona: string): EventDraft => ({ type: 'NpcUpdated', data: { persona } });

/** Nine events, the first and the last of them of one turn. */
const written = async (): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  const between = Array.from({ length: 6 }, (_, n) => update(`p${n}`));
  const all = [turnOpened(process), ...between, directiveGiven(directive), actorIdentified(process)];
  await store.append(
    stream,
    'no_stream',
    all.map(({ type, data }, n) => event(`e${n}`, { type, data, meta: { commandId: n % 8 === 0 ? 'mine' : 'other' } })),
  );
  return store;
};

describe('the pages of a stream', () => {
  it.each<[title: string, range: Omit<ReadRange, 'limit'>, pages: readonly (readonly number[])[], most?: number]>([
    ['forwards', { direction: 'forwards' }, [[0, 1], [2, 3], [4, 5], [6, 7], [8]]],
    ['backwards', { direction: 'backwards' }, [[8, 7], [6, 5], [4, 3], [2, 1], [0]]],
    [
      'forwards in a range',
      { direction: 'forwards', from: 3, to: 6 },
      [
        [3, 4],
        [5, 6],
      ],
    ],
    ['backwards in a range', { direction: 'backwards', from: 6, to: 4 }, [[6, 5], [4]]],
    ['forwards from beyond the end', { direction: 'forwards', from: 9 }, [[]]],
    ['altogether no more than asked for', { direction: 'backwards' }, [[8, 7], [6]], 3],
    ['to their end, which a full page may be', { direction: 'forwards', from: 7 }, [[7, 8]]],
  ])('are read %s, though each ends early', async (_, range, pages, most) => {
    using short = shortPages(await written(), 2);
    const seen: number[][] = [];
    for await (const { events, lastRevision } of pagesOf(short.store, stream, range, most)) {
      seen.push(events.map(({ revision }) => revision));
      expect(lastRevision).toBe(8);
    }
    expect(seen).toEqual(pages);
    expect(short.reads).toHaveLength(pages.length);
  });

  it('report a missing stream as an empty page', async () => {
    const seen = [];
    for await (const page of pagesOf(new MemoryEventStore(), STREAM, { direction: 'forwards' })) seen.push(page);
    expect(seen).toEqual([{ events: [], lastRevision: -1 }]);
  });
});

describe('a reader of an entire stream', () => {
  it.each<[title: string, run: (store: EventStore) => Promise<unknown>, outcome: unknown]>([
    [
      'loads a writer',
      async (store) => (await new StreamWriters(store, new ManualClock()).open(stream, mindFold)).revision,
      8,
    ],
    [
      'folds a mind',
      async (store) =>
        (await mindAsOf(new StreamWriters(store, new ManualClock()), 'studio', 'mira', { revision: 99 }))?.revision,
      8,
    ],
    [
      'folds a process',
      async (store) =>
        (await new ProcessRepository(store).load(turn, { process: 'turn', id: process, stream })).state.name,
      'awaitingMemories',
    ],
    [
      'looks for recent turns',
      async (store) => (await new TurnIndex(store).recent(stream)).map(({ turnId, awaits }) => [turnId, awaits]),
      [[process, 'memories']],
    ],
    [
      'looks for a turn of one event',
      async (store) =>
        (await readTurn({ events: store, repository: new ProcessRepository(store) }, 'studio', 'mira', directive)).kind,
      'directive',
    ],
    [
      'searches a history by type',
      async (store) =>
        (
          await readHistory(store, stream, {
            direction: 'backwards',
            limit: 5,
            filter: { types: new Set(['TurnOpened']) },
          })
        ).events.map((text) => (JSON.parse(text) as HistoryEvent).revision),
      [0],
    ],
    [
      'looks for what a command recorded before',
      async (store) => {
        const deps = { events: store, clock: new ManualClock(), writers: new StreamWriters(store, new ManualClock()) };
        const again = { ...onBehalf('mine'), resumed: true };
        return (await runCommand(deps, stream, texts, again, () => [])).events.map(({ revision }) => revision);
      },
      [0, 8],
    ],
  ])('%s through all pages, however early they end, and yields between them', async (_, run, outcome) => {
    using short = shortPages(await written(), 2);
    expect(await run(short.store)).toEqual(outcome);
    const pages = short.reads.slice(-4);
    expect(pages).toHaveLength(4);
    expect(new Set(pages).size).toBe(4);
  });
});
