import { describe, expect, it, vi } from 'vitest';

import { LogEnd, type LoggedEvent } from '../../../src/adapters/eventstore/log-end.js';
import { LogHorizon } from '../../../src/adapters/eventstore/log-horizon.js';
import type { StoredLogPlaces } from '../../../src/ports/log-places.js';
import { settle } from '../../support/settle.js';

/**
 * A log with our events at some positions, and foreign events everywhere else; it counts the events it returns. `age` distinguishes logs, and `gone` is the
 * position of a scavenged event.
 */
const shared = (kept: StoredLogPlaces | null = null) => {
  const log = {
    end: 0,
    ours: new Set<number>(),
    read: 0,
    filtered: 0,
    kept,
    keptFails: false,
    warned: 0,
    age: 'a',
    gone: 0,
  };
  const eventAt = (position: number): LoggedEvent => ({
    ...{ position, id: `${log.age}${String(position)}`, isOurs: log.ours.has(position) },
  });
  const horizon = new LogHorizon();
  const end = new LogEnd({
    horizon,
    reader: {
      readTail: async (limit, take) => {
        for (let at = log.end; at > Math.max(0, log.end - limit); at -= 1) {
          log.read += 1;
          if (log.ours.has(at)) horizon.meet(at);
          if (take(eventAt(at))) return;
        }
      },
      mayHold: async ({ position, id }) =>
        position <= log.end && (position === log.gone || eventAt(position).id === id),
    },
    readOn: async (after, take) => {
      for (let at = after + 1; at <= log.end; at += 1) {
        log.filtered += 1;
        if (log.ours.has(at)) {
          horizon.meet(at);
          take({ event: at });
        } else if (at % 1_000 === 0) take({ place: at });
      }
    },
    kept: {
      load: async () => {
        if (log.keptFails) throw new Error('the database is away');
        return log.kept;
      },
      keep: async (places) => void (log.kept = places),
    },
    log: { warn: () => (log.warned += 1) },
  });
  return { log, end, horizon };
};

/** The clock runs an hour ahead until the work and its background tasks are done. */
const anHourLater = async <T>(work: () => Promise<T>): Promise<T> => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
  try {
    const result = await work();
    await settle();
    return result;
  } finally {
    clock.mockRestore();
  }
};

describe('the end of a log that others write to', () => {
  it('is 0 in an empty log, and the last event if that is ours', async () => {
    const { log, end } = shared();
    expect(await end.position()).toBe(0);
    Object.assign(log, { end: 50_000, ours: new Set([7, 49_990]) });
    expect(await end.position()).toBe(49_990);
    expect(log).toMatchObject({ filtered: 0, read: 11 });
  });

  it('is searched for among foreign events once, however often it is requested', async () => {
    const { log, end } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]) });
    for (let n = 0; n < 10; n += 1) expect(await end.position()).toBe(7_000);
    expect(log.filtered).toBe(50_000);
    expect(log.read).toBeLessThan(600);
    log.end = 60_000;
    expect(await end.position()).toBe(7_000);
    log.ours.add(60_001);
    log.end = 60_001;
    expect(await end.position()).toBe(60_001);
    expect(log.filtered).toBe(60_000);
  });

  it('continues from what an earlier process stored, for the end and for readers', async () => {
    const first = shared();
    Object.assign(first.log, { end: 50_000, ours: new Set([7_000, 9_000]) });
    expect(await first.end.position()).toBe(9_000);
    await settle();
    expect(first.log.kept).toEqual({ first: 6_999, own: 9_000, place: 50_000, id: 'a50000' });
    const { log, end } = shared(first.log.kept);
    Object.assign(log, { end: 51_000, ours: first.log.ours });
    expect(await end.startAfter(0)).toBe(6_999);
    expect(await end.startAfter(8_000)).toBe(8_000);
    expect(await end.startAfter(9_000)).toBe(50_000);
    expect(await end.startAfter(50_500)).toBe(50_500);
    expect(await end.position()).toBe(9_000);
    expect(log.filtered).toBe(1_000);
  });

  it('is unknown, with a warning, if the log ends before the stored mark or holds another event there', async () => {
    const kept = { first: 6_999, own: 9_000, place: 50_000, id: 'a50000' };
    for (const [age, length] of [
      ['a', 20_000],
      ['b', 60_000],
    ] as const) {
      const { log, end } = shared(kept);
      Object.assign(log, { age, end: length, ours: new Set([100, 12_000]) });
      expect(await end.startAfter(9_000)).toBe(9_000);
      expect(await end.position()).toBe(12_000);
      expect(log.warned).toBe(1);
    }
  });

  it('is searched for in a log that was truncated while this process ran', async () => {
    const { log, end } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]) });
    await end.position();
    Object.assign(log, { end: 20_000, ours: new Set([6_000]) });
    expect(await end.position()).toBe(6_000);
    expect(log.warned).toBe(1);
  });

  it('is searched for in a log that was restored and has grown since, without anything from the old log', async () => {
    const { log, end } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]) });
    await end.position();
    Object.assign(log, { age: 'b', end: 60_000, ours: new Set([7_000, 45_000]), kept: null });
    expect(await anHourLater(() => end.position())).toBe(45_000);
    expect(log.warned).toBe(1);
    expect(await end.startAfter(7_000)).toBe(7_000);
    expect(log.kept).toMatchObject({ own: 45_000, place: 60_000, id: 'b60000' });
  });

  it('is searched for in a log that was truncated after its mark, but before what was seen later', async () => {
    const { log, end, horizon } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]) });
    await end.position();
    horizon.meet(55_000);
    Object.assign(log, { end: 52_000 });
    expect(await end.position()).toBe(7_000);
    expect(log.warned).toBe(1);
  });

  it('recognises a log whose identifying event was scavenged', async () => {
    const { log, end } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]) });
    await end.position();
    Object.assign(log, { end: 60_000, gone: 50_000 });
    expect(await anHourLater(() => end.position())).toBe(7_000);
    expect([log.warned, log.filtered]).toEqual([0, 60_000]);
  });

  it('gives a new leader a moment to catch up with what was seen', async () => {
    const { log, end } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]) });
    await end.position();
    log.end = 49_000;
    const found = end.position();
    await settle();
    log.end = 50_000;
    expect([await found, log.warned, log.filtered]).toEqual([7_000, 0, 50_000]);
  });

  it('records where our first event is, even if it is found from the end', async () => {
    const { log, end } = shared();
    log.end = 50_000;
    expect(await end.position()).toBe(0);
    Object.assign(log, { end: 50_001, ours: new Set([50_001]) });
    expect(await end.position()).toBe(50_001);
    expect(await end.startAfter(0)).toBe(50_000);
  });

  it('is not searched for among all foreign events while the stored mark cannot be read', async () => {
    const { log, end } = shared();
    Object.assign(log, { end: 50_000, ours: new Set([7_000]), keptFails: true });
    await expect(end.position()).rejects.toThrow('the database is away');
    expect([log.filtered, await end.startAfter(9)]).toEqual([0, 9]);
    log.ours.add(50_000);
    expect(await end.position()).toBe(50_000);
    log.end = 50_100;
    log.keptFails = false;
    log.kept = { first: 0, own: 50_000, place: 50_050, id: 'a50050' };
    expect(await end.position()).toBe(50_000);
    expect(log.filtered).toBe(50);
  });
});
