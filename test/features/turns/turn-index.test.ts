import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { PAGE_EVENTS } from '../../../src/kernel/streams/stream-pages.js';
import { TURN_SEARCH_EVENTS, TurnIndex, TURNS_KEPT_PER_MIND } from '../../../src/features/turns/turn-index.js';
import { weightOf } from '../../../src/kernel/base/weight.js';
import type { EventStore, ReadRange } from '../../../src/ports/event-store.js';
import { event } from '../../support/events.js';
import { actorIdentified, memoriesRecalled, memoryStored, turnOpened, verdict } from '../../support/histories.js';
import { eventsOf, storeWith, STREAM } from '../../support/streams.js';
import { appendNext } from '../../support/append-next.js';
import { gate } from '../../support/gate.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { turn } from '../../../workflows/turn/turn.js';

/** An index on a store whose reads it records; `append` writes as another server. */
const setUp = async (...before: EventDraft[]) => {
  const store = new MemoryEventStore();
  let count = 0;
  const append = async (...events: readonly EventDraft[]): Promise<void> => {
    for (let n = 0; n < events.length; n += 500) {
      const batch = events.slice(n, n + 500).map(({ type, data }) => event(`e${count++}`, { type, data }));
      await appendNext(store, STREAM, batch);
    }
  };
  await append(...before);
  const reads: { readonly range: ReadRange; readonly events: number }[] = [];
  const read: EventStore['read'] = async (stream, range) => {
    const page = await store.read(stream, range);
    reads.push({ range, events: page.events.length });
    return page;
  };
  const index = new TurnIndex(storeWith(store, { read }));
  const names = async (): Promise<string[]> =>
    (await index.recent(STREAM)).map(({ turnId, awaits, expired }) => `${turnId} ${expired ? 'expired' : awaits}`);
  return { store, append, index, reads, names };
};

const whole = (turnId: string): EventDraft[] => [
  turnOpened(turnId),
  actorIdentified(turnId),
  memoriesRecalled(turnId),
  verdict(turnId, true),
];
const expiry = (turnId: string): EventDraft => ({ type: 'TurnExpired', data: { turnId } });

describe('the recent turns of a mind', () => {
  it('are listed newest first, with the input that each waits for', async () => {
    const { names } = await setUp(
      turnOpened('t1'),
      turnOpened('t2'),
      actorIdentified('t1'),
      ...whole('t3'),
      turnOpened('t4'),
      expiry('t4'),
    );
    expect(await names()).toEqual(['t4 expired', 't3 null', 't2 actor', 't1 memories']);
  });

  it('are none without turns, and do not include other acts', async () => {
    const { names } = await setUp({ type: 'NpcRegistered', data: {} }, verdict('v0_0_asked', true, true));
    expect(await names()).toEqual([]);
  });

  it('are searched within a bound, one page at a time', async () => {
    const foreign = Array.from({ length: TURN_SEARCH_EVENTS }, () => ({ type: 'Foreign', data: {} }));
    const { names, reads } = await setUp(turnOpened('t1'), turnOpened('t2'), ...foreign.slice(1));
    expect(await names()).toEqual(['t2 actor']);
    expect(reads.reduce((sum, { events }) => sum + events, 0)).toBe(TURN_SEARCH_EVENTS);
    expect(Math.max(...reads.map(({ events }) => events))).toBeLessThanOrEqual(PAGE_EVENTS);
  });

  it('include newer records, which are read once for any number of concurrent callers', async () => {
    const { append, names, reads } = await setUp(turnOpened('t1'));
    await names();
    await append(actorIdentified('t1'), turnOpened('t2'));
    const expected = ['t2 actor', 't1 memories'];
    expect(await Promise.all([names(), names(), names()])).toEqual([expected, expected, expected]);
    reads.length = 0;
    expect(await names()).toEqual(expected);
    expect(reads.map(({ events }) => events)).toEqual([0]);
  });

  it('are kept current from noted events, without reading, if there is no other writer', async () => {
    const { store, append, reads } = await setUp(turnOpened('t1'));
    const read: EventStore['read'] = (...asked) => {
      reads.push({ range: asked[1], events: 0 });
      return store.read(...asked);
    };
    const index = new TurnIndex(storeWith(store, { read }), { shared: false });
    const first = index.recent(STREAM);
    // Recorded during the read of the mind, and afterwards.
    await append(actorIdentified('t1'));
    index.note(STREAM, (await eventsOf(store)).slice(1));
    await first;
    await append(memoriesRecalled('t1'), turnOpened('t2'));
    index.note(STREAM, (await eventsOf(store)).slice(2));
    reads.length = 0;
    expect((await index.recent(STREAM)).map(({ turnId, awaits }) => `${turnId} ${awaits}`)).toEqual([
      't2 actor',
      't1 output',
    ]);
    expect(reads).toEqual([]);
  });

  it('are bounded: the oldest ended ones are dropped first', async () => {
    const ended = Array.from({ length: TURNS_KEPT_PER_MIND }, (_, n) => whole(`ended${n}`));
    const { names } = await setUp(turnOpened('open'), ...ended.flat());
    const found = await names();
    expect(found).toHaveLength(TURNS_KEPT_PER_MIND);
    expect(found.at(-1)).toBe('open actor');
    expect(found.at(-2)).toBe('ended1 null');
  });

  it('are bounded even if none of them ends', async () => {
    const open = Array.from({ length: 5 * TURNS_KEPT_PER_MIND }, (_, n) => turnOpened(`t${n}`));
    const { names } = await setUp(...open);
    const found = await names();
    expect(found).toHaveLength(4 * TURNS_KEPT_PER_MIND);
    expect(found.at(-1)).toBe(`t${TURNS_KEPT_PER_MIND} actor`);
  });

  it('are the newest ones even if more was recorded since than is searched', async () => {
    const { append, names } = await setUp(turnOpened('old'));
    await names();
    const turns = Array.from({ length: TURN_SEARCH_EVENTS / 4 + 200 }, (_, n) => `t${n}`);
    await append(...turns.flatMap(whole));
    expect((await names()).slice(0, 2)).toEqual([`${turns.at(-1) ?? ''} null`, `${turns.at(-2) ?? ''} null`]);
  });

  it('use the same memory whatever they contain', async () => {
    const long = 'word '.repeat(20_000);
    const actor = { npcId: long, persona: null, data: {} };
    const { index } = await setUp(turnOpened('t1', { observation: long, context: { long }, actor, resumedFrom: long }));
    expect(weightOf(await index.recent(STREAM))).toBeLessThan(2_000);
  });
});

describe('the turns of a mind whose memories were retracted', () => {
  const player = { id: 'ann', from: 'body' } as const;
  const idOf = (n: number): string => makeProcessId('t', n, 1_700_000_000_000 + n, String(n));
  const opened = (n: number): EventDraft =>
    turnOpened(idOf(n), {
      player,
      conversation: Array.from({ length: Math.min(n, 12) }, (_, before) => ({
        turnId: idOf(n - 1 - before),
        observation: 'Hm?',
        said: 'Hm.',
      })) as never,
    });
  const retraction = (...memoryIds: string[]): EventDraft => ({
    type: 'MemoriesRetracted',
    data: { memoryIds, reason: 'A lie.' },
  });
  const whole = (n: number, memoryId: string): EventDraft[] => [
    opened(n),
    memoryStored(memoryId, 'The mill is gone.', idOf(n)),
    verdict(idOf(n), true),
  ];

  it('are those that stored one, and those that were opened with such a turn, also later', async () => {
    const events = [...whole(0, 'm0'), ...whole(1, 'm1'), retraction('other'), retraction('m1'), retraction('another')];
    const { append, index } = await setUp(...events, opened(2));
    await append(retraction('m1'), opened(3));
    const turns = await index.recent(STREAM);
    expect(turns.map(({ retracted = false }) => retracted)).toEqual([true, true, true, false]);
  });

  it('are found without looking at all of them for each of many retractions in a row', async () => {
    const turns = Array.from({ length: TURNS_KEPT_PER_MIND }, (_, n) => whole(n, `m${n}`)).flat();
    const { store } = await setUp(...turns, ...Array.from({ length: 1_600 }, (_, n) => retraction(`other ${n}`)));
    const costs: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      const before = process.cpuUsage();
      await new TurnIndex(store).recent(STREAM);
      costs.push(process.cpuUsage(before).user);
    }
    expect(Math.min(...costs)).toBeLessThan(80_000);
  });
});

describe('the turn that resumes a lost one', () => {
  it('is found by the lost id, whether it is old or new', async () => {
    const { append, index } = await setUp(turnOpened('t2', { resumedFrom: 't1' }));
    expect(await index.successor(STREAM, 't1')).toBe('t2');
    expect(await index.successor(STREAM, 't2')).toBeUndefined();
    await append(turnOpened('t3', { resumedFrom: 't2' }));
    expect(await index.successor(STREAM, 't2')).toBe('t3');
    expect(await index.successor('npc-studio.other', 't1')).toBeUndefined();
  });

  it('is consistent with the returned tail, even if another call has read further meanwhile', async () => {
    const [older, newer] = ['t0_mk000000_aaaaaaaaaaaaaaaa', 't1_mk000000_bbbbbbbbbbbbbbbb'];
    const store = new MemoryEventStore();
    await appendNext(store, STREAM, [event('e0', turnOpened(older))]);
    let slow: Promise<void> | null = null;
    const read: EventStore['read'] = async (stream, range) => {
      const waits = slow;
      slow = null;
      const page = await store.read(stream, range);
      await waits;
      return page;
    };
    const events = storeWith(store, { read });
    const index = new TurnIndex(events);
    await index.recent(STREAM);
    const { opened, open } = gate();
    slow = opened;
    const first = index.recentWithTail(STREAM);
    await appendNext(store, STREAM, [event('e1', turnOpened(newer))]);
    await index.recent(STREAM);
    open();
    const { turns, tail } = await first;
    expect(turns.map(({ turnId }) => turnId)).toEqual([newer, older]);
    const repository = new ProcessRepository(events, { shared: true });
    const { state } = await repository.load(turn, { process: turn.name, id: newer, stream: STREAM }, -1, tail);
    expect(state.name).toBe('awaitingActor');
  });
});
