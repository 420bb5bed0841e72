import { describe, expect, it } from 'vitest';

import { SingleFlight } from '../../../src/kernel/concurrency/single-flight.js';
import { gate } from '../../support/gate.js';
import { settle } from '../../support/settle.js';

const never = (): AbortSignal => new AbortController().signal;

describe('shared work', () => {
  it('runs once for all callers that join while it runs, and again for later ones', async () => {
    const shared = new SingleFlight<number>();
    const { opened, open } = gate();
    let runs = 0;
    const work = async (): Promise<number> => {
      runs += 1;
      await opened;
      return runs;
    };
    const all = Array.from({ length: 100 }, () => shared.join('one', never(), work));
    const other = shared.join('another', never(), () => Promise.resolve(0));
    open();
    expect(new Set(await Promise.all(all))).toEqual(new Set([1]));
    expect(await other).toBe(0);
    expect(await shared.join('one', never(), work)).toBe(2);
  });

  it('fails for all waiting callers', async () => {
    const shared = new SingleFlight<never>();
    const work = () => Promise.reject(new Error('no'));
    const all = [shared.join('one', never(), work), shared.join('one', never(), work)];
    expect(await Promise.allSettled(all)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });

  it('continues while any caller waits, and is aborted when the last one leaves; the next caller starts it again', async () => {
    const shared = new SingleFlight<string>();
    const signals: AbortSignal[] = [];
    const work = (signal: AbortSignal): Promise<string> => {
      signals.push(signal);
      return signals.length === 1 ? new Promise(() => undefined) : Promise.resolve('again');
    };
    const [first, second] = [new AbortController(), new AbortController()];
    const waits = [first, second].map(({ signal }) =>
      shared.join('one', signal, work).catch((error: unknown) => error),
    );
    first.abort(new Error('gone'));
    expect(await waits[0]).toMatchObject({ message: 'gone' });
    await settle(2);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    second.abort(new Error('gone too'));
    expect(await waits[1]).toMatchObject({ message: 'gone too' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await shared.join('one', never(), work)).toBe('again');
  });
});
