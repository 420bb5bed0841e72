import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { quietQueues } from '../../../src/adapters/kafka/quiet-queue.js';

type Sent = { readonly correlationId: number };
type Queue = {
  push(request: { entry: Sent; expectResponse: boolean; sendRequest: () => void }): void;
  fulfillRequest(answer: Sent & { payload: null; size: number }): void;
  destroy(): void;
};
const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
  options: object,
) => Queue;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const silent = { debug: () => undefined, warn: () => undefined };
const open = (maxInFlightRequests: number) => {
  const sent: number[] = [];
  const queue = new RequestQueue({
    instrumentationEmitter: new EventEmitter(),
    maxInFlightRequests,
    requestTimeout: 1_000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'localhost:9092',
    logger: silent,
    isConnected: () => true,
  });
  const push = (correlationId: number): void => {
    const entry = { correlationId, resolve: () => undefined, reject: () => undefined };
    queue.push({ entry, expectResponse: true, sendRequest: () => sent.push(correlationId) });
  };
  return { queue, push, sent };
};

it('leaves no timer behind when every request is answered', () => {
  quietQueues();
  const { queue, push } = open(1);
  push(1);
  queue.fulfillRequest({ correlationId: 1, payload: null, size: 0 });
  expect(vi.getTimerCount()).toBe(0);
});

it('still sends requests that had to wait', () => {
  quietQueues();
  const { queue, push, sent } = open(1);
  push(1);
  push(2);
  expect(sent).toEqual([1]);
  queue.fulfillRequest({ correlationId: 1, payload: null, size: 0 });
  vi.advanceTimersByTime(1_000);
  expect(sent).toEqual([1, 2]);
  queue.destroy();
});
