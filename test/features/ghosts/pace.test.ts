import { describe, expect, it } from 'vitest';

import { atPace, createPace, timedPace } from '../../../src/features/ghosts/pace.js';

/** A clock on which work takes the time that it names, and rest is recorded. */
const clockOf = () => {
  let nowMs = 0;
  const rests: number[] = [];
  return {
    rests,
    work: (ms: number) => void (nowMs += ms),
    clock: {
      monotonicMs: () => nowMs,
      after: (ms: number, run: () => void) => {
        rests.push(ms);
        const timer = setImmediate(() => {
          nowMs += ms;
          run();
        });
        return () => clearImmediate(timer);
      },
    },
  };
};

describe('the CPU throttle of ghosts', () => {
  it.each([0.25, 0.5, 1])('leaves the processor to others for the rest of the time (share %f)', async (share) => {
    const { clock, rests, work } = clockOf();
    const pace = createPace(clock, share)('a');
    for (let piece = 0; piece < 100; piece += 1) await pace(() => work(1));
    const rested = rests.reduce((sum, ms) => sum + ms, 0);
    const wanted = (100 * (1 - share)) / share;
    expect(Math.abs(rested - wanted)).toBeLessThanOrEqual(8);
  });

  it('runs pieces of work in order, and continues after a failure', async () => {
    const { clock } = clockOf();
    const pace = createPace(clock, 1)('a');
    const order: number[] = [];
    const pieces = [1, 2, 3, 4].map((piece) =>
      pace(() => {
        order.push(piece);
        if (piece === 2) throw new Error('no');
        return piece;
      }),
    );
    expect((await Promise.allSettled(pieces)).map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    ]);
    expect(order).toEqual([1, 2, 3, 4]);
    await expect(pace(() => 'still there')).resolves.toBe('still there');
  });

  it('is shared fairly by tenants, however many sessions each of them has', async () => {
    const { clock } = clockOf();
    const pace = createPace(clock, 1);
    const done = { busy: 0, single: 0, third: 0 };
    const play = async (tenant: keyof typeof done): Promise<void> => {
      while (done.single < 100) await pace(tenant)(() => (done[tenant] += 1));
    };
    await Promise.all([
      ...Array.from({ length: 40 }, () => play('busy')),
      play('single'),
      play('third'),
      play('third'),
    ]);
    expect(done.busy).toBeLessThan(160);
    expect(done.third).toBeLessThan(160);
  });

  it('starves no session beside tenants that submit one piece at a time', async () => {
    const { clock } = clockOf();
    const pace = createPace(clock, 1);
    const done = { a: 0, c: 0, one: 0, other: 0 };
    const play = async (tenant: keyof typeof done): Promise<void> => {
      while (done.one < 200) await pace(tenant)(() => (done[tenant] += 1));
    };
    const sessions = ['one', 'other', ...Array.from({ length: 5 }, () => ['a', 'c']).flat()] as (keyof typeof done)[];
    await Promise.all(sessions.map(play));
    for (const pieces of Object.values(done)) expect(Math.abs(pieces - 200)).toBeLessThanOrEqual(20);
  });

  it('does not count time in which the entire process was suspended, during a piece or a rest', async () => {
    const { clock, rests, work } = clockOf();
    const pace = createPace(clock, 0.5)('a');
    await pace(() => work(600_000));
    await pace(() => undefined);
    expect(Math.max(...rests)).toBeLessThanOrEqual(100);
    const { after } = clock;
    clock.after = (ms, run) => after(ms + 30_000, run);
    await pace(() => work(10));
    await pace(() => undefined);
    clock.after = after;
    rests.length = 0;
    for (let piece = 0; piece < 10; piece += 1) await pace(() => work(10));
    expect(rests.length).toBeGreaterThanOrEqual(8);
  });

  it('measures work in slices without the rests between them [9.9k]', async () => {
    const { clock, work } = clockOf();
    function* sliced(): Generator<number, string, void> {
      for (const ms of [3, 40, 7]) {
        work(ms);
        yield 1;
      }
      return 'done';
    }
    const { pace, tookMs } = timedPace(createPace(clock, 0.25)('a'), clock);
    expect(await atPace(pace, sliced())).toBe('done');
    expect(tookMs()).toBe(50);
  });
});
