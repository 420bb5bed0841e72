import { EventEmitter } from 'node:events';

import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';

import { clientSignal } from '../../../src/kernel/http/client-signal.js';
import { ClientGone } from '../../../src/kernel/http/guard/read-body.js';

const openCall = (keyed: boolean, closed = false) => {
  const res = Object.assign(new EventEmitter(), { writableEnded: false, closed, socket: {} });
  const koa = { req: { socket: {} }, res } as unknown as Context;
  return { res, signal: clientSignal({ koa, keyed }) };
};

describe('the signal of a client that leaves', () => {
  it('aborts when the connection closes before the response, and not after it', () => {
    const left = openCall(false);
    expect(left.signal?.aborted).toBe(false);
    left.res.emit('close');
    expect(left.signal?.reason).toBeInstanceOf(ClientGone);
    const answered = openCall(false);
    answered.res.writableEnded = true;
    answered.res.emit('close');
    expect(answered.signal?.aborted).toBe(false);
  });

  it('has already aborted if the client had left before', () => {
    expect(openCall(false, true).signal?.aborted).toBe(true);
  });

  it('is absent if the response is stored for repeats', () => {
    expect(openCall(true).signal).toBeUndefined();
  });
});
