import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../src/adapters/memory/event-store.js';
import { TURN_SEARCH_EVENTS, TurnIndex, TURNS_KEPT_PER_MIND } from '../../src/app/turn-index.js';
import type { EventStore, ReadRange } from '../../src/ports/event-store.js';
import { turn } from '../../workflows/turn.js';
import type { TurnState } from '../../workflows/turn-state.js';
import { actorIdentified, type Emitted, memoriesRecalled, turnOpened, verdict } from '../support/histories.js';
import { event } from '../support/events.js';
import { eventsOf, storeWith, STREAM } from '../support/streams.js';

/** An index on a store of which it counts the reads; `append` is what others write. */
const setUp = async (...before: Emitted[]) => {
  const store = new MemoryEventStore();
  let count = 0;
  const append = async (...events: readonly Emitted[]): Promise<void> => {
    for (let n = 0; n < events.length; n += 500) {
      const batch = events.slice(n, n + 500).map(({ type, data }) => event(`e${count++}`, { type, data }));
      await store.append(STREAM, 'any', batch);
    }
  };
  await append(...before);
  const ranges: ReadRange[] = [];
  const read: EventStore['read'] = (stream, range) => {
    ranges.push(range);
    return store.read(stream, range);
  };
  const index = new TurnIndex(storeWith(store, { read }));
  const names = async (): Promise<string[]> =>
    (await index.recent(STREAM)).map((found) => `${found.turnId} ${found.name}`);
  return { store, append, index, ranges, names };
};

const whole = (turnId: string): Emitted[] => [
  turnOpened(turnId),
  actorIdentified(turnId),
  memoriesRecalled(turnId),
  verdict(turnId, true),
];

/** A turn as the server that stepped it knows it. */
const stateOf = async (store: EventStore, turnId: string): Promise<TurnState> =>
  (await eventsOf(store))
    .filter(({ data }) => data['turnId'] === turnId)
    .reduce<TurnState>((folded, event) => turn.evolve(folded, event), turn.initial);

describe('the recent turns of a mind', () => {
  it('come newest first, as their events left them, from one backward read', async () => {
    const { names, ranges } = await setUp(turnOpened('t1'), turnOpened('t2'), actorIdentified('t1'), ...whole('t3'));
    expect(await names()).toEqual(['t3 ended', 't2 awaitingActor', 't1 awaitingMemories']);
    await names();
    expect(ranges).toEqual([{ direction: 'backwards', limit: TURN_SEARCH_EVENTS }]);
  });

  it('are none where there are no turns, and those of other acts are none', async () => {
    const { names } = await setUp({ type: 'NpcRegistered', data: {} }, verdict('v0_0_asked', true, true));
    expect(await names()).toEqual([]);
  });

  it('keep the ruleset that was missing when they were opened', async () => {
    const missing = { type: 'RulesetMissing', data: { turnId: 't1', rulesetId: 'nowhere' } };
    const { index } = await setUp(missing, turnOpened('t1'));
    expect(await index.recent(STREAM)).toMatchObject([{ turnId: 't1', rulesetMissing: 'nowhere' }]);
  });

  it('are searched no further back than the bound', async () => {
    const foreign = Array.from({ length: TURN_SEARCH_EVENTS }, () => ({ type: 'Foreign', data: {} }));
    const { names } = await setUp(turnOpened('t1'), turnOpened('t2'), ...foreign.slice(1));
    expect(await names()).toEqual(['t2 awaitingActor']);
  });

  it('take note of a step without reading', async () => {
    const { store, append, index, names, ranges } = await setUp(turnOpened('t1'));
    await names();
    await append(actorIdentified('t1'), turnOpened('t2'));
    await index.noted(STREAM, () => stateOf(store, 't1'));
    await index.noted(STREAM, () => stateOf(store, 't2'));
    await index.noted(STREAM, () => Promise.resolve(turn.initial));
    expect(await names()).toEqual(['t2 awaitingActor', 't1 awaitingMemories']);
    expect(ranges).toHaveLength(1);
  });

  it('know after a refresh what others appended, and fold no step twice', async () => {
    const { store, append, index, names } = await setUp(turnOpened('t1'));
    await names();
    await append(actorIdentified('t1'));
    await index.noted(STREAM, () => stateOf(store, 't1'));
    await append(memoriesRecalled('t1'), turnOpened('t2'));
    expect(await names()).toEqual(['t1 awaitingMemories']);
    await index.refresh(STREAM);
    await index.refresh(STREAM);
    expect(await index.recent(STREAM)).toEqual([await stateOf(store, 't2'), await stateOf(store, 't1')]);
  });

  it('are bounded: ended turns go first, the oldest of them before the others', async () => {
    const ended = Array.from({ length: TURNS_KEPT_PER_MIND }, (_, n) => whole(`ended${n}`));
    const { names } = await setUp(turnOpened('open'), ...ended.flat());
    const found = await names();
    expect(found).toHaveLength(TURNS_KEPT_PER_MIND);
    expect(found.at(-1)).toBe('open awaitingActor');
    expect(found.at(-2)).toBe('ended1 ended');
  });

  it('are bounded also when none of them ends', async () => {
    const open = Array.from({ length: 5 * TURNS_KEPT_PER_MIND }, (_, n) => turnOpened(`t${n}`));
    const { names } = await setUp(...open);
    const found = await names();
    expect(found).toHaveLength(4 * TURNS_KEPT_PER_MIND);
    expect(found.at(-1)).toBe(`t${TURNS_KEPT_PER_MIND} awaitingActor`);
  });

  it('are still the newest after a refresh of a mind that had many', async () => {
    const { store, append, index, names } = await setUp();
    await names();
    const turns = Array.from({ length: TURN_SEARCH_EVENTS / 4 + 200 }, (_, n) => `t${n}`);
    await append(...turns.flatMap(whole));
    for (const turnId of turns.slice(-TURNS_KEPT_PER_MIND)) await index.noted(STREAM, () => stateOf(store, turnId));
    const before = await names();
    await index.refresh(STREAM);
    expect(await names()).toEqual(before);
  });
});

describe('the turn that goes on for a lost one', () => {
  it('is found by the lost id, in what was read, refreshed or noted', async () => {
    const { store, append, index } = await setUp(turnOpened('t2', { resumedFrom: 't1' }));
    expect(await index.successor(STREAM, 't1')).toBe('t2');
    expect(await index.successor(STREAM, 't2')).toBeUndefined();
    await append(turnOpened('t3', { resumedFrom: 't2' }));
    await index.refresh(STREAM);
    expect(await index.successor(STREAM, 't2')).toBe('t3');
    await append(turnOpened('t4', { resumedFrom: 't3' }));
    await index.noted(STREAM, () => stateOf(store, 't4'));
    expect(await index.successor(STREAM, 't3')).toBe('t4');
    expect(await index.successor('npc-studio.other', 't1')).toBeUndefined();
  });
});
