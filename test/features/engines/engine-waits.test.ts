import { beforeEach, describe, expect, it } from 'vitest';

import { Rejection } from '../../../src/kernel/base/rejection.js';
import {
  ENGINE_CALL_MS,
  createEngineWaits,
  ENGINE_WAIT_MS,
  type EngineWaits,
  LET_THROUGH,
} from '../../../src/features/engines/engine-waits.js';
import type { CortexEngine } from '../../../src/ports/cortex.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';

const never = new AbortController().signal;
const down = (retryAfter = 5): Rejection =>
  new Rejection('CORTEX_UNAVAILABLE', { details: { reason: 'It is down.' }, retryAfter });

describe('waiting for an engine that is down', () => {
  let clock: ManualClock;
  let waits: EngineWaits;
  let calls: string[];
  let answer: (prompt: string) => Promise<string>;
  const listeners = new Set<() => void>();
  const answered = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const engine: CortexEngine = {
    id: 'openai',
    name: 'm',
    runtime: 'http',
    parameters: 0,
    state: () => 'ready',
    down: () => null,
    onAnswer: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    complete: async ({ prompt }) => {
      calls.push(prompt);
      const text = await answer(prompt);
      answered();
      return { text, stats: {} };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const ask = (prompt: string, signal = new AbortController().signal): Promise<unknown> =>
    waits.complete(engine, { prompt }, signal).then(
      ({ text }) => text,
      (error: unknown) => error,
    );
  const askAll = (count: number): Promise<unknown>[] => Array.from({ length: count }, (_, at) => ask(String(at)));
  const isUp = (): void => {
    answer = (prompt) => Promise.resolve(`re ${prompt}`);
  };

  beforeEach(() => {
    clock = new ManualClock();
    waits = createEngineWaits(clock, 20);
    calls = [];
    listeners.clear();
    answer = () => Promise.reject(down());
  });

  it('tries again every five seconds with one call, the oldest first [6.8a]', async () => {
    const both = [ask('a'), ask('b')];
    await settle(5);
    expect(calls).toEqual(['a', 'b']);
    calls.length = 0;
    await clock.advance(4_999);
    expect(calls).toEqual([]);
    await clock.advance(10_001);
    expect(calls).toEqual(['a', 'b', 'a']);
    isUp();
    await clock.advance(5_000);
    expect(await Promise.all(both)).toEqual(['re a', 're b']);
    expect([listeners.size, clock.waiting]).toEqual([0, 0]);
  });

  it('ends as soon as the engine has answered anybody [6.8b]', async () => {
    const waiting = ask('a');
    await settle(5);
    isUp();
    await engine.complete({ prompt: 'of another turn' }, never);
    expect(await waiting).toBe('re a');
    expect(clock.waiting).toBe(0);
  });

  it('lets a few more through with each answer [6.8b]', async () => {
    const all = askAll(12);
    await settle(5);
    calls.length = 0;
    const { opened, open } = gate();
    answer = async (prompt) => {
      await opened;
      return prompt;
    };
    answered();
    await settle(5);
    expect(calls).toHaveLength(LET_THROUGH);
    open();
    expect(await Promise.all(all)).toHaveLength(12);
    expect(calls).toHaveLength(12);
  });

  it('waits again if the engine fails again', async () => {
    const waiting = ask('a');
    await settle(5);
    answered();
    await settle(5);
    isUp();
    await clock.advance(5_000);
    expect(await waiting).toBe('re a');
    expect(calls).toEqual(['a', 'a', 'a']);
  });

  it('fails at once if all places are taken [6.8c]', async () => {
    const all = askAll(21);
    await settle(5);
    expect(await all[20]).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    isUp();
    answered();
    expect((await Promise.all(all)).filter((one) => typeof one === 'string')).toHaveLength(20);
  });

  it('ends after ten minutes, and when its caller leaves', async () => {
    const caller = new AbortController();
    const [left, late] = [ask('a', caller.signal), ask('b')];
    await settle(5);
    const reason = new Error('gone');
    caller.abort(reason);
    expect(await left).toBe(reason);
    await clock.advance(ENGINE_WAIT_MS);
    expect(await late).toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    expect([listeners.size, clock.waiting]).toEqual([0, 0]);
  });

  it('counts a call without an end as one that failed, and any other failure as final', async () => {
    answer = () => new Promise(() => undefined);
    const slow = ask('a');
    await clock.advance(ENGINE_CALL_MS);
    isUp();
    await clock.advance(1_000);
    expect(await slow).toBe('re a');
    const refusal = new Rejection('CORTEX_NO_ANSWER');
    answer = () => Promise.reject(refusal);
    expect(await ask('b')).toBe(refusal);
  });
});
