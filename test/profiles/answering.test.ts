import { describe, expect, it } from 'vitest';

import { answering, notTooOften, tellingChanges, TOLD_AGAIN_MS, withoutNames } from '../../src/profiles/answering.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { rememberingLog } from '../support/http.js';
import { ManualClock } from '../support/manual-clock.js';

describe('a public probe', () => {
  it('is passed on once for all concurrent callers, and not again for a while', async () => {
    const clock = new ManualClock();
    const waiting: ((answer: number) => void)[] = [];
    const ask = notTooOften(clock, () => new Promise<number>((resolve) => waiting.push(resolve)));
    const first = [ask(), ask()];
    await clock.advance(10 * TOLD_AGAIN_MS);
    first.push(ask());
    expect(waiting).toHaveLength(1);
    waiting[0]?.(1);
    expect(await Promise.all(first)).toEqual([1, 1, 1]);
    await clock.advance(TOLD_AGAIN_MS - 1);
    expect(await ask()).toBe(1);
    await clock.advance(1);
    const next = ask();
    waiting[1]?.(2);
    expect(await next).toBe(2);
    expect(waiting).toHaveLength(2);
  });

  it('is sent again after it failed', async () => {
    const clock = new ManualClock();
    let asked = 0;
    const ask = notTooOften(clock, async () => {
      asked += 1;
      if (asked === 1) throw new Error('away');
      return asked;
    });
    await expect(ask()).rejects.toThrow('away');
    await clock.advance(TOLD_AGAIN_MS);
    expect(await ask()).toBe(2);
  });
});

describe('a failing server', () => {
  it('is logged once with its reason, again with another reason, and when it recovers', () => {
    const log = rememberingLog();
    const tell = tellingChanges(log);
    const said = () => log.lines.splice(0).map(({ level, fields }) => ({ level, ...fields }));
    tell({ temporal: { ok: true }, kafka: null });
    expect(said()).toEqual([]);
    tell({ temporal: { ok: false, detail: 'no response within 803 ms' }, kafka: { ok: false, detail: 'refused' } });
    expect(said()).toEqual([
      { level: 'warn', server: 'temporal', detail: 'no response within 803 ms' },
      { level: 'warn', server: 'kafka', detail: 'refused' },
    ]);
    tell({ temporal: { ok: false, detail: 'no response within 799 ms' }, kafka: { ok: false, detail: 'untrusted' } });
    expect(said()).toEqual([{ level: 'warn', server: 'kafka', detail: 'untrusted' }]);
    tell({ temporal: { ok: true }, kafka: { ok: false, detail: 'untrusted' } });
    expect(said()).toEqual([{ level: 'info', server: 'temporal' }]);
    tell({ temporal: { ok: true }, kafka: { ok: true } });
    expect(said()).toEqual([{ level: 'info', server: 'kafka' }]);
  });

  it('is logged with the original error', async () => {
    const log = rememberingLog();
    const failure = new Error('Check THE_URL.', { cause: new Error('connect ECONNREFUSED 10.0.0.1:7233') });
    tellingChanges(log)({ temporal: await answering(new ManualClock(), () => Promise.reject(failure)) });
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { server: 'temporal', detail: failure.message, err: failure },
    ]);
  });
});

describe('a failing file store', () => {
  it('reports whether its disk is full, and nothing about its contents', async () => {
    const state = async (failure: Error) =>
      withoutNames(await answering(new ManualClock(), () => Promise.reject(failure))).detail;
    expect(await state(new Rejection('STORE_FULL'))).toBe('The disk is full.');
    const damaged = new Rejection('STORE_UNAVAILABLE', { message: 'The mind "tom" in events.db cannot be read.' });
    expect(await state(damaged)).toBe('The event store cannot be read or written.');
    expect(await state(new Error('ENOENT: /data/events.db'))).toBe('The event store cannot be read or written.');
    expect(withoutNames({ ok: true })).toEqual({ ok: true });
  });
});
