import { EventEmitter } from 'node:events';

import { describe, expect, it } from 'vitest';

import { ONE_STOP_MS, onStopSignals } from '../../../src/adapters/system/stop-signals.js';
import { ManualClock } from '../../support/manual-clock.js';

const listening = () => {
  const signals = new EventEmitter();
  const clock = new ManualClock();
  const calls: string[] = [];
  const unlisten = onStopSignals(signals, clock, {
    stop: () => calls.push('stop'),
    giveUp: () => calls.push('give up'),
  });
  return { signals, clock, calls, unlisten };
};

describe('Stop signals', () => {
  it('count as one when they arrive within a second, whatever they are [11.3c]', async () => {
    expect(ONE_STOP_MS).toBe(1_000);
    const { signals, clock, calls } = listening();
    signals.emit('SIGINT');
    signals.emit('SIGINT');
    await clock.advance(ONE_STOP_MS);
    signals.emit('SIGTERM');
    expect(calls).toEqual(['stop']);
  });

  it('force the exit when they are repeated [11.3c]', async () => {
    const { signals, clock, calls } = listening();
    signals.emit('SIGTERM');
    await clock.advance(ONE_STOP_MS + 1);
    signals.emit('SIGINT');
    expect(calls).toEqual(['stop', 'give up']);
  });

  it('are left to the process once no listener is left', () => {
    const { signals, calls, unlisten } = listening();
    unlisten();
    expect([signals.listenerCount('SIGINT'), signals.listenerCount('SIGTERM')]).toEqual([0, 0]);
    signals.emit('SIGINT');
    expect(calls).toEqual([]);
  });
});
