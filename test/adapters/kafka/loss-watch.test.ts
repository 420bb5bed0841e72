import { EventEmitter } from 'node:events';

import { type Consumer, Kafka } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { watchForLoss } from '../../../src/adapters/kafka/loss-watch.js';

const SILENT_MS = 20_000;

describe('A watched consumer', () => {
  const { events } = new Kafka({ brokers: ['127.0.0.1:1'] }).consumer({ groupId: 'watched' });
  let emitter: EventEmitter;
  let consumer: Pick<Consumer, 'on' | 'events'>;
  beforeEach(() => {
    vi.useFakeTimers();
    emitter = new EventEmitter();
    const on = (name: string, listener: (event: unknown) => void) => {
      emitter.on(name, listener);
      return () => emitter.off(name, listener);
    };
    consumer = { events, on: on as unknown as Consumer['on'] };
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** The reason it counts as lost; null while it does not. */
  const lossOf = async (lost: Promise<never>): Promise<string | null> => {
    let loss: string | null = null;
    lost.catch((error: unknown) => (loss = (error as Error).message));
    await vi.advanceTimersByTimeAsync(0);
    return loss;
  };

  it('is lost when the client gives up, with the message of the client', async () => {
    const watch = watchForLoss(consumer, SILENT_MS);
    expect(await lossOf(watch.lost)).toBeNull();
    emitter.emit(events.CRASH, { payload: { error: new Error('no broker') } });
    expect(await lossOf(watch.lost)).toBe('no broker');
    watch.end();
  });

  it('is lost when the client has been silent for too long, even from the start', async () => {
    const watch = watchForLoss(consumer, SILENT_MS);
    await vi.advanceTimersByTimeAsync(SILENT_MS - 1);
    expect(await lossOf(watch.lost)).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(await lossOf(watch.lost)).toContain('no activity for 20000 ms');
    watch.end();
  });

  it.each(['CONNECT', 'GROUP_JOIN', 'FETCH', 'HEARTBEAT'] as const)('gives a sign of life with %s', async (sign) => {
    const watch = watchForLoss(consumer, SILENT_MS);
    await vi.advanceTimersByTimeAsync(SILENT_MS - 1);
    emitter.emit(events[sign], {});
    await vi.advanceTimersByTimeAsync(SILENT_MS - 1);
    expect(await lossOf(watch.lost)).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(await lossOf(watch.lost)).not.toBeNull();
    watch.end();
  });

  it('is ignored once the watch has ended', async () => {
    const watch = watchForLoss(consumer, SILENT_MS);
    watch.end();
    await vi.advanceTimersByTimeAsync(SILENT_MS * 2);
    expect(await lossOf(watch.lost)).toBeNull();
    expect(emitter.eventNames()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
