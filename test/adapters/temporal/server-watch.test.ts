import { afterEach, describe, expect, it } from 'vitest';

import { ServerWatch, SILENCE_MS } from '../../../src/adapters/temporal/server-watch.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

/** How long an unanswered ping takes, in milliseconds. */
const PING_MS = 600;
/** Lets the started work reach its first pause before time passes. */
const pass = async (clock: ManualClock, ms: number): Promise<void> => {
  await settle(2);
  await clock.advance(ms);
};
/** Callers that waited together should not all return in the same second. */
const away = { code: 'ENGINE_UNAVAILABLE', retryAfter: 1, retrySpread: 2 };

describe('The watch over the server', () => {
  let watch: ServerWatch | undefined;
  let clock = new ManualClock();
  afterEach(async () => {
    const ended = watch?.[Symbol.asyncDispose]();
    await pass(clock, PING_MS);
    await ended;
  });

  /** A server that answers pings, is silent, or refuses connections. */
  const watching = () => {
    clock = new ManualClock();
    const server = { is: 'there' as 'there' | 'silent' | 'refusing', pings: 0 };
    const ping = async (): Promise<void> => {
      server.pings += 1;
      if (server.is === 'there') return;
      if (server.is === 'silent') await new Promise<void>((resolve) => clock.after(PING_MS, resolve));
      throw new Error('no answer');
    };
    const watch_ = (watch = new ServerWatch({ ping, clock }));
    /** Waits for an answer that never arrives. */
    const wait = () => {
      const seen: { signal: AbortSignal | null; endedMs: number | null; error: unknown } = {
        signal: null,
        endedMs: null,
        error: null,
      };
      void watch_
        .during((signal) => {
          seen.signal = signal;
          return new Promise<never>(() => undefined);
        })
        .catch((error: unknown) => {
          seen.endedMs = clock.monotonicMs();
          seen.error = error;
        });
      return seen;
    };
    return { server, watch: watch_, wait };
  };

  it('keeps watching after work that throws immediately', async () => {
    const { server, watch, wait } = watching();
    const failing = watch.during(() => {
      throw new Error('at once');
    });
    await expect(failing).rejects.toThrow('at once');
    server.is = 'silent';
    const seen = wait();
    await pass(clock, 5_000);
    expect(seen.error).toMatchObject(away);
  });

  it('passes results and errors of the work through, and pings only while it runs', async () => {
    const { server, watch } = watching();
    expect(await watch.during(() => Promise.resolve('answer'))).toBe('answer');
    await expect(watch.during(() => Promise.reject(new Error('thrown')))).rejects.toThrow('thrown');
    await pass(clock, 60_000);
    expect(server.pings).toBe(1);
  });

  it('waits for an answer while the server answers pings', async () => {
    const { server, wait } = watching();
    const seen = wait();
    await pass(clock, 60_000);
    expect(seen.endedMs).toBeNull();
    expect(seen.signal?.aborted).toBe(false);
    expect(server.pings).toBe(121);
  });

  it.each(['silent', 'refusing'] as const)(
    'refuses all waiting callers within 2 s when the server is %s, and cancels their work [1.5h]',
    async (is) => {
      const { server, wait } = watching();
      const first = wait();
      await pass(clock, 5_000);
      const second = wait();
      server.is = is;
      await pass(clock, 2_000);
      for (const { signal, endedMs, error } of [first, second]) {
        expect(error).toMatchObject(away);
        expect(endedMs).toBeGreaterThanOrEqual(5_000 + SILENCE_MS / 2);
        expect(signal?.aborted).toBe(true);
        expect(signal?.reason).toBe(error);
      }
    },
  );

  it('ignores one lost ping', async () => {
    const { server, wait } = watching();
    const seen = wait();
    await pass(clock, 400);
    server.is = 'refusing';
    await pass(clock, 150);
    server.is = 'there';
    await pass(clock, 60_000);
    expect(seen.endedMs).toBeNull();
  });

  it('ignores one slow ping', async () => {
    const { server, wait } = watching();
    const seen = wait();
    await pass(clock, 400);
    server.is = 'silent';
    await pass(clock, 150);
    server.is = 'there';
    await pass(clock, 60_000);
    expect(seen.endedMs).toBeNull();
  });

  it('refuses immediately while the server is known to be down, and notices its return', async () => {
    const { server, watch, wait } = watching();
    server.is = 'refusing';
    wait();
    await pass(clock, 2_000);
    const { pings } = server;
    let isBegun = false;
    const begin = () => {
      isBegun = true;
      return Promise.resolve('answer');
    };
    await expect(watch.during(begin)).rejects.toMatchObject(away);
    expect(isBegun).toBe(false);
    await pass(clock, 60_000);
    expect(server.pings).toBeGreaterThan(pings + 100);
    server.is = 'there';
    await pass(clock, 200);
    expect(await watch.during(begin)).toBe('answer');
    const quiet = server.pings;
    await pass(clock, 600);
    await pass(clock, 60_000);
    expect(server.pings).toBeLessThanOrEqual(quiet + 1);
  });

  it('pings again for the next waiting caller', async () => {
    const { server, watch, wait } = watching();
    await watch.during(() => Promise.resolve());
    await pass(clock, 60_000);
    server.is = 'refusing';
    const seen = wait();
    await pass(clock, 2_000);
    expect(seen.error).toMatchObject(away);
  });

  it('stops pinging on disposal, even while callers wait', async () => {
    const { server, watch, wait } = watching();
    wait();
    await settle();
    await watch[Symbol.asyncDispose]();
    await pass(clock, 60_000);
    expect(server.pings).toBe(1);
  });

  it('leaves no unhandled rejection when the work fails after the server is gone', async () => {
    const { server, watch } = watching();
    const { opened, open } = gate<Promise<never>>();
    server.is = 'refusing';
    const seen = expect(watch.during(() => opened)).rejects.toMatchObject(away);
    await pass(clock, 2_000);
    await seen;
    open(Promise.reject(new Error('cancelled')));
    await settle();
  });
});
