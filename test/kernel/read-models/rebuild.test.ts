import { beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { type RebuildProgress, rebuild } from '../../../src/kernel/read-models/rebuild.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { projections } from '../../../projections/registry.js';
import { npcs } from '../../../projections/npcs.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryReadModels } from '../../support/memory/read-models.js';
import { writerWith } from '../../support/read-models.js';
import { appendNext } from '../../support/append-next.js';
import { itLong } from '../../support/long.js';

const MINDS = 700;
const tenant = 'studio';
const all = { partition: tenant, direction: 'ascending', limit: 10_000 } as const;

describe('Rebuilding the read models', () => {
  const clock = new ManualClock();
  let store: MemoryEventStore;
  let models: MemoryReadModels;

  const register = async (npcId: string, type = 'NpcRegistered'): Promise<void> => {
    await appendNext(store, npcStream(tenant, npcId), [
      event(`${npcId}-${type}`, { type, data: {}, meta: { tenant } }),
    ]);
  };

  beforeEach(async () => {
    store = new MemoryEventStore();
    models = new MemoryReadModels(clock);
    for (let n = 0; n < MINDS; n += 1) await register(`mind-${n}`);
  });

  it('makes the rows from all events, and reports its progress', async () => {
    const told: RebuildProgress[] = [];
    const rebuilt = await rebuild({ events: store, writer: models, clock }, projections, (progress) =>
      told.push(progress),
    );
    expect(rebuilt).toEqual({ events: MINDS, parked: 0 });
    expect((await models.list(npcs, all)).rows).toHaveLength(MINDS);
    expect(told.length).toBeGreaterThan(1);
    expect(told.at(-1)).toEqual({ events: MINDS, position: MINDS, last: MINDS });
    expect(told.map(({ position }) => position)).toEqual(told.map(({ position }) => position).sort((a, b) => a - b));
    for (const projection of projections) {
      expect(await models.open(projection)).toMatchObject({ live: true, position: MINDS });
    }
  });

  it('drops rows that no event accounts for', async () => {
    const build = await models.open(npcs);
    const put = [{ key: 'ghost', row: {}, index: { partition: tenant, order: 'ghost', tag: 'live' } }];
    await models.commit(build, { put, remove: [], progress: [], parked: [], position: MINDS });
    await models.swapIn(build);
    await rebuild({ events: store, writer: models, clock }, projections);
    expect(await models.get(npcs, 'ghost')).toBeNull();
  });

  it('leaves the old rows unchanged when it is interrupted, and starts over the next time', async () => {
    await rebuild({ events: store, writer: models, clock }, projections);
    await register('late');
    const readAll = async (after: number, limit: number) => {
      if (after > 0) throw new Error('the power went out');
      return store.readAll(after, limit);
    };
    const failing = Object.assign(Object.create(store) as MemoryEventStore, {
      readAll,
      lastPosition: () => store.lastPosition(),
    });
    await expect(rebuild({ events: failing, writer: models, clock }, projections)).rejects.toThrow(
      'the power went out',
    );
    expect((await models.list(npcs, all)).rows).toHaveLength(MINDS);
    await rebuild({ events: store, writer: models, clock }, projections);
    expect((await models.list(npcs, all)).rows).toHaveLength(MINDS + 1);
  });

  it('counts the events that no projection could apply', async () => {
    const picky = {
      ...npcs,
      evolve: () => {
        throw new Error('no');
      },
    };
    const rebuilt = await rebuild({ events: store, writer: models, clock }, [picky, ...projections.slice(1)]);
    expect(rebuilt).toEqual({ events: MINDS, parked: MINDS });
    expect(await models.parkedCount([picky])).toBe(MINDS);
  });

  itLong('writes as it goes, so that large minds are never all in memory', async () => {
    store = new MemoryEventStore();
    const persona = 'x'.repeat(500_000);
    for (let n = 0; n < 450; n += 1) {
      const stream = npcStream(tenant, `mind-${n % 300}`);
      await appendNext(store, stream, [event(`${n}`, { type: 'NpcUpdated', data: { persona }, meta: { tenant } })]);
    }
    const sizes: number[] = [];
    const writer = writerWith(models, {
      commit: (build, changes) => {
        sizes.push(changes.put.length * persona.length);
        return models.commit(build, changes);
      },
    });
    await rebuild({ events: store, writer, clock }, [npcs]);
    expect((await models.list(npcs, { ...all, bytes: Infinity })).rows).toHaveLength(300);
    expect(Math.max(...sizes)).toBeLessThan(120 * 1024 * 1024);
  });

  itLong('writes as it goes also when small events change large minds', async () => {
    store = new MemoryEventStore();
    const persona = 'x'.repeat(500_000);
    for (const [type, data] of [
      ['NpcUpdated', { persona }],
      ['NpcArchived', {}],
    ] as const) {
      for (let n = 0; n < 300; n += 1) {
        await appendNext(store, npcStream(tenant, `mind-${n}`), [
          event(`${n}-${type}`, { type, data, meta: { tenant } }),
        ]);
      }
    }
    const sizes: number[] = [];
    const writer = writerWith(models, {
      commit: (build, changes) => {
        sizes.push(changes.put.length * persona.length);
        return models.commit(build, changes);
      },
    });
    await rebuild({ events: store, writer, clock }, [npcs]);
    expect((await models.list(npcs, { ...all, tags: ['archived'], bytes: Infinity })).rows).toHaveLength(300);
    expect(Math.max(...sizes)).toBeLessThan(120 * 1024 * 1024);
  });

  it('gives up when another process writes the same read models', async () => {
    const writer = writerWith(models, { commit: async () => false });
    await expect(rebuild({ events: store, writer, clock }, projections)).rejects.toThrow('Another process');
  });
});
