import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { LOOK_BREAKS, LOOK_EVENTS, lookAtChain, recordBreaks } from '../../../src/features/npcs/chain-breaks.js';
import { GENESIS_HASH } from '../../../src/kernel/streams/hash-chain.js';
import { hashInput } from '../../support/hash-input.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { registerNpc } from '../../../src/features/npcs/domain/decide.js';
import { statuses } from '../../../src/kernel/http/statuses.js';
import type { EventStore, RecordedEvent } from '../../../src/ports/event-store.js';
import { event, events } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { checksOf } from '../../support/seals.js';
import { eventsOf, onBehalf, STREAM, storeWith } from '../../support/streams.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import { appendNext } from '../../support/append-next.js';

/** The checks of a store whose events need no seals. */
const unsealed = (store: EventStore) => checksOf(store, () => Promise.resolve(true));

/** Servers that write to one mind: each `act` appends one event. */
const writing = (store: EventStore) => {
  const clock = new ManualClock();
  let acts = 0;
  const deps = {
    ...{ writers: new StreamWriters(store, clock, { shared: true }), events: store, clock },
    checks: unsealed(store),
  };
  const act = () =>
    runCommand(deps, STREAM, mindFold, onBehalf(`act-${String((acts += 1))}`), (mind) =>
      registerNpc(mind, { persona: `Persona ${String(acts)}` }),
    );
  return { deps, act };
};

/** The output of a faulty writer: an event with a wrong link, and a hash of other content. */
const misfit = (name: string) => event(name, { meta: { prevHash: 'b'.repeat(64), hash: 'c'.repeat(64) } });

/** A mind with events at 0, 1, 3 and 4 from a server, and one at 2 that does not fit. */
const broken = async (store: EventStore = new MemoryEventStore()) => {
  const server = writing(store);
  await server.act();
  await server.act();
  await store.append(STREAM, 1, [misfit('misfit')]);
  await server.act();
  await server.act();
  return { ...server, store };
};

const look = (store: EventStore, from = 0) => lookAtChain({ events: store, checks: unsealed(store) }, STREAM, from);
const typesOf = async (store: EventStore) => (await eventsOf(store)).map(({ type }) => type);

describe('checking a chain', () => {
  it('finds nothing in an intact chain, and nothing without a stream', async () => {
    const store = new MemoryEventStore();
    expect(await look(store)).toEqual({ events: 0, breaks: [], revision: -1 });
    const { act } = writing(store);
    for (let count = 0; count < 3; count += 1) await act();
    expect(await look(store)).toEqual({ events: 3, breaks: [], revision: 2 });
  });

  it('finds both members of an event that do not fit, and continues from the stored hash [10.7a]', async () => {
    const { store } = await broken();
    const [, before] = await eventsOf(store);
    const found = await look(store);
    expect(found).toEqual({
      events: 5,
      revision: 4,
      breaks: [
        {
          revision: 2,
          member: 'prevHash',
          stored: 'b'.repeat(64),
          computed: before?.meta.hash,
          acknowledged: null,
        },
        {
          revision: 2,
          member: 'hash',
          stored: 'c'.repeat(64),
          computed: expect.stringMatching(/^[0-9a-f]{64}$/),
          acknowledged: null,
        },
      ],
    });
  });

  it('finds every break, including the first event of a stream that lacks its beginning', async () => {
    const store = new MemoryEventStore();
    await store.append(STREAM, 'no_stream', events('misfit', 3));
    const { breaks } = await look(store);
    expect(breaks.map(({ revision, member }) => [revision, member])).toEqual([
      [0, 'hash'],
      [1, 'prevHash'],
      [1, 'hash'],
      [2, 'prevHash'],
      [2, 'hash'],
    ]);
    expect(breaks[1]).toMatchObject({ stored: GENESIS_HASH, computed: 'a'.repeat(64) });
  });

  it('begins at the requested revision, with the stored hash before it [10.7a]', async () => {
    const { store } = await broken();
    expect((await look(store, 2)).breaks).toEqual((await look(store)).breaks);
    expect(await look(store, 3)).toEqual({ events: 2, breaks: [], revision: 4 });
    expect(await look(store, 99)).toEqual({ events: 0, breaks: [], revision: 4 });
  });

  it('names events that no server records, and those of an unknown version [10.7e]', async () => {
    const { store } = await broken();
    const strange = event('strange');
    await store.append(STREAM, 4, [
      { ...strange, meta: { ...strange.meta, schemaVersion: 99 } },
      event('half', { data: { text: '\ud800' } }),
      { ...event('none'), data: null as never },
      event('hash', { meta: { hash: 5 as never } }),
    ]);
    const found = await look(store, 5);
    expect(found.events).toBe(4);
    expect(found.breaks.filter(({ member }) => member === 'hash').map(({ revision }) => revision)).toEqual([
      5, 6, 7, 8,
    ]);
    expect(found.breaks.find(({ revision, member }) => revision === 8 && member === 'hash')?.stored).toBe('');
  });

  it('ends soon after many breaks, and returns where to continue [10.7c]', async () => {
    const store = new MemoryEventStore();
    for (let part = 0; part < 3; part += 1) await appendNext(store, STREAM, events(`misfit-${String(part)}`, 200));
    expect([LOOK_EVENTS, LOOK_BREAKS]).toEqual([20_000, 200]);
    const first = await look(store);
    expect(first.breaks.length).toBeGreaterThanOrEqual(LOOK_BREAKS);
    expect(first.breaks.length).toBeLessThan(500);
    expect(first.next).toBe(first.events);
    const revisions = new Set<number>();
    for (let from: number | undefined = 0; from !== undefined;) {
      const part: Awaited<ReturnType<typeof look>> = await look(store, from);
      for (const { revision } of part.breaks) revisions.add(revision);
      from = part.next;
    }
    expect(revisions.size).toBe(600);
  });

  it('ends after many events, and yields between any two [10.7c]', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < LOOK_EVENTS) setImmediate(count);
    };
    setImmediate(count);
    const found = await look(endless());
    expect(found).toEqual({ events: found.events, breaks: [], next: found.events, revision: 10 * LOOK_EVENTS });
    expect(found.events).toBeGreaterThanOrEqual(LOOK_EVENTS);
    expect(found.events).toBeLessThan(LOOK_EVENTS + 200);
    expect(turns).toBeGreaterThan(LOOK_EVENTS / 2);
  });
});

describe('acknowledging chain breaks', () => {
  it('appends each break once; later checks report it as acknowledged [10.7b]', async () => {
    const { store, deps } = await broken();
    const found = await look(store);
    const recorded = await recordBreaks(deps, STREAM, onBehalf('ack'), found, 'a disk fault');
    const acknowledged = { by: onBehalf('ack').actor, at: expect.any(String) as string, reason: 'a disk fault' };
    expect(recorded.breaks).toEqual(found.breaks.map((one) => ({ ...one, acknowledged })));
    expect(recorded.revision).toBe(6);
    const appended = (await eventsOf(store)).slice(5);
    expect(appended.map(({ type, data }) => ({ type, data }))).toEqual(
      found.breaks.map(({ acknowledged: _, ...data }) => ({
        type: 'ChainBreakRecorded',
        data: { ...data, reason: 'a disk fault' },
      })),
    );
    const again = await look(store);
    expect(again).toEqual({ events: 7, revision: 6, breaks: recorded.breaks });
    await recordBreaks(deps, STREAM, onBehalf('again'), again);
    expect(await eventsOf(store)).toHaveLength(7);
  });

  it('counts no acknowledgement that this server did not record [10.7b]', async () => {
    const { store } = await broken();
    const found = await look(store);
    const last = (await eventsOf(store)).at(-1) as RecordedEvent;
    const drafts = found.breaks.map(({ acknowledged: _, ...data }, index) =>
      event(`forged ${String(index)}`, { type: 'ChainBreakRecorded', data: { ...data, reason: 'by me' } }),
    );
    let prevHash = last.meta.hash;
    const forged = drafts.map((draft, index) => {
      const meta = { ...draft.meta, prevHash };
      prevHash = sha256Hex(hashInput({ ...draft, meta, stream: STREAM, revision: last.revision + 1 + index }));
      return { ...draft, meta: { ...meta, hash: prevHash } };
    });
    await store.append(STREAM, last.revision, forged);
    // A store that was begun by this version has no events without a seal.
    const sealed = await lookAtChain({ events: store, checks: checksOf(store) }, STREAM, 0);
    expect(sealed.breaks.map(({ acknowledged }) => acknowledged)).toEqual([null, null]);
    expect((await look(store)).breaks.every(({ acknowledged }) => acknowledged?.reason === 'by me')).toBe(true);
    const odd = event('odd', { type: 'ChainBreakRecorded', data: { revision: { toString: 1 } } });
    await store.append(STREAM, last.revision + forged.length, [odd]);
    expect((await look(store)).breaks).toHaveLength(4);
  });

  it('keeps the chain intact afterwards, and the mind unchanged', async () => {
    const { store, deps, act } = await broken();
    const before = (await deps.writers.open(STREAM, mindFold)).state;
    await recordBreaks(deps, STREAM, onBehalf('ack'), await look(store));
    const after = (await deps.writers.open(STREAM, mindFold)).state;
    expect(after).toEqual({ ...before, revision: 6, updatedAt: after.updatedAt });
    await act();
    expect((await look(store, 3)).breaks).toEqual([]);
  });

  it('does not acknowledge another change of the same event', async () => {
    const { store, deps } = await broken();
    await recordBreaks(deps, STREAM, onBehalf('ack'), await look(store));
    const touched = storeWith(store, {
      read: async (...range) => {
        const page = await store.read(...range);
        return { ...page, events: page.events.map((one) => (one.revision === 2 ? { ...one, type: 'Forged' } : one)) };
      },
    });
    const { breaks } = await look(touched);
    expect(breaks.map(({ member, acknowledged }) => [member, acknowledged])).toEqual([
      ['prevHash', { by: onBehalf('ack').actor, at: expect.any(String) as string, reason: null }],
      ['hash', null],
    ]);
  });

  it('records each break once when many servers do so at the same time', async () => {
    const { store } = await broken();
    const found = await look(store);
    const recorded = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        recordBreaks(writing(store).deps, STREAM, onBehalf(`ack-${String(index)}`), found),
      ),
    );
    for (const { breaks } of recorded) expect(breaks.every(({ acknowledged }) => acknowledged !== null)).toBe(true);
    expect((await typesOf(store)).filter((type) => type === 'ChainBreakRecorded')).toHaveLength(2);
  });

  it('repeats under its key the first attempt’s response, and leaves later breaks to another request', async () => {
    const { store, deps } = await broken();
    const command = { ...onBehalf('repeated'), keyed: true };
    await recordBreaks(deps, STREAM, command, await look(store));
    const recorded = await typesOf(store);
    await store.append(STREAM, recorded.length - 1, [misfit('another')]);
    const again = await recordBreaks(deps, STREAM, { ...command, resumed: true }, await look(store));
    expect(again.breaks.map(({ acknowledged }) => acknowledged !== null)).toEqual([true, true, false, false]);
    expect(await typesOf(store)).toHaveLength(recorded.length + 1);
  });

  it('leaves later breaks to another request even if the first attempt recorded nothing', async () => {
    const { store, deps } = await broken();
    const command = { ...onBehalf('done'), keyed: true, resumed: true, done: true };
    const before = await typesOf(store);
    const again = await recordBreaks(deps, STREAM, command, await look(store));
    expect(again.breaks.every(({ acknowledged }) => acknowledged === null)).toBe(true);
    expect(await typesOf(store)).toEqual(before);
  });

  it('continues when the mind has moved since the check', async () => {
    const { store, deps, act } = await broken();
    const found = await look(store);
    await act();
    const recorded = await recordBreaks(deps, STREAM, onBehalf('ack'), found);
    expect(recorded).toMatchObject({
      revision: 7,
      breaks: [{ acknowledged: { by: 'key' } }, { acknowledged: { by: 'key' } }],
    });
  });

  it('gives up on a mind that moves during every attempt [10.7d]', async () => {
    const { store, act } = await broken();
    const busy = storeWith(store, {
      append: async (stream, expected, given) => {
        if (given.some(({ type }) => type === 'ChainBreakRecorded')) await act();
        return store.append(stream, expected, given);
      },
    });
    const late = writing(busy);
    await expect(recordBreaks(late.deps, STREAM, onBehalf('ack'), await look(store))).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect(statuses.CONFLICT).toBe(409);
    expect(await typesOf(store)).not.toContain('ChainBreakRecorded');
  });
});

/** An intact chain that is longer than any check; it can be read once, from its beginning. */
const endless = (): EventStore => {
  const template = event('endless');
  let prevHash = GENESIS_HASH;
  const next = (revision: number): RecordedEvent => {
    const unhashed = { ...template, stream: STREAM, position: revision + 1, revision };
    const meta = { ...template.meta, prevHash };
    prevHash = sha256Hex(hashInput({ ...unhashed, meta }));
    return { ...unhashed, meta: { ...meta, hash: prevHash } };
  };
  return storeWith(new MemoryEventStore(), {
    read: async (_, { from = 0, limit }) => ({
      events: Array.from({ length: limit }, (__, index) => next(from + index)),
      lastRevision: 10 * LOOK_EVENTS,
    }),
  });
};
