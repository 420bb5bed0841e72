import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';

import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { Rejection } from '../domain/shared/rejection.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { connectionLimits } from './connection-limits.js';
import type { Exchange } from './exchange.js';
import type { Lifecycle } from './lifecycle.js';
import type { Chunk, ResponseDefinition, StreamedAnswer } from './route.js';

export type StreamDeps = { readonly lifecycle: Lifecycle; readonly clock: Clock; readonly log: Log };

/** For this many bytes of a finite stream its client has the time of a whole answer; the largest whole answer is as large. */
const TIMED_BYTES = 16 * 1024 * 1024;

type NextChunk = IteratorResult<Chunk, unknown>;

/** An iterator that can be left at any moment; a pending wait for its next step then gets null. */
type Leavable = {
  readonly next: () => Promise<NextChunk | null>;
  /** Resolves when the response takes more, or when it is left. */
  readonly drained: () => Promise<void>;
  readonly leave: () => void;
  readonly isLeft: () => boolean;
};

const leavable = (chunks: StreamedAnswer['chunks'], res: ServerResponse): Leavable => {
  const left = new AbortController();
  const iterator = chunks(left.signal)[Symbol.asyncIterator]();
  let wake = (): void => undefined;
  const giveBack = async (): Promise<void> => {
    await iterator.return?.();
  };
  return {
    // One promise for each step: racing with one that stays would gather what waits for it as long as the stream lives.
    next: () =>
      new Promise((resolve, reject) => {
        if (left.signal.aborted) {
          resolve(null);
          return;
        }
        wake = () => resolve(null);
        iterator.next().then(resolve, reject);
      }),
    drained: () =>
      new Promise((resolve) => {
        if (left.signal.aborted) {
          resolve();
          return;
        }
        wake = resolve;
        res.once('drain', resolve);
      }),
    leave: () => {
      if (left.signal.aborted) return;
      left.abort();
      wake();
      giveBack().catch(() => undefined);
    },
    isLeft: () => left.signal.aborted,
  };
};

/** Cuts a client that takes too long over each part of an answer; `passed` counts what it has been given. */
const timed = (res: ServerResponse, clock: Clock) => {
  const cut = (): (() => void) => clock.after(connectionLimits.answerTimeoutMs, () => res.destroy());
  let cancel = cut();
  let bytes = 0;
  return {
    passed: (chunk: Chunk): void => {
      bytes += Buffer.byteLength(chunk);
      if (bytes < TIMED_BYTES) return;
      bytes = 0;
      cancel();
      cancel = cut();
    },
    stop: (): void => cancel(),
  };
};

const every = (clock: Clock, ms: number, run: () => void): (() => void) => {
  let cancel: () => void = () => undefined;
  const wait = (): void => {
    cancel = clock.after(ms, () => {
      run();
      wait();
    });
  };
  wait();
  return () => {
    cancel();
  };
};

/**
 * Sends an answer as it is made (StreamedAnswer says how). A finite one is over when this resolves; an endless one goes on. A client that takes
 * nothing is cut by the server's own limit (connection-limits.ts). A client that takes too little is cut by the limit for a whole answer.
 * @throws what is thrown before the first chunk; Rejection NOT_READY when the stream is left before that chunk
 */
export const sendStream = async (
  { req, res }: Context,
  exchange: Exchange,
  status: number,
  { type, chunks, heartbeat }: StreamedAnswer,
  kind: NonNullable<ResponseDefinition['stream']>,
  { lifecycle, clock, log }: StreamDeps,
): Promise<void> => {
  // A client's leaving is reported only once, possibly before this listener existed.
  if (res.destroyed || res.headersSent) return;
  const begin = (): void => {
    res.writeHead(status, { ...exchange.headers, 'Content-Type': type });
    res.flushHeaders();
  };
  if (req.method === 'HEAD') {
    begin();
    res.end();
    return;
  }
  const { stopping } = lifecycle;
  const stream = leavable(chunks, res);
  res.once('close', stream.leave);
  if (kind === 'endless') {
    stopping.addEventListener('abort', stream.leave, { once: true });
    if (stopping.aborted) stream.leave();
  }
  const letGo = (): void => {
    res.off('close', stream.leave);
    stopping.removeEventListener('abort', stream.leave);
  };

  const rest = async (first: NextChunk): Promise<void> => {
    const time = kind === 'finite' ? timed(res, clock) : null;
    const stopBeating =
      heartbeat &&
      every(clock, heartbeat.everyMs, () => {
        if (!res.writableNeedDrain) res.write(heartbeat.chunk);
      });
    try {
      for (let step: NextChunk | null = first; step !== null && step.done !== true; step = await stream.next()) {
        if (step.value.length === 0) continue;
        time?.passed(step.value);
        if (res.write(step.value)) continue;
        await stream.drained();
        // What the system takes at once drains at once; others have their turn all the same.
        await yieldToEventLoop();
      }
      res.end();
    } catch (err) {
      if (stream.isLeft()) {
        res.end();
        return;
      }
      log.error({ err, requestId: exchange.requestId, operation: exchange.operationId }, 'an answer was cut off');
      res.destroy();
    } finally {
      time?.stop();
      stopBeating?.();
      letGo();
    }
  };

  let first: NextChunk | null;
  try {
    first = await stream.next();
  } catch (thrown) {
    letGo();
    throw thrown;
  }
  if (first === null) {
    letGo();
    // No effect when it was the client that left.
    throw new Rejection('NOT_READY');
  }
  begin();
  const sent = rest(first);
  if (kind === 'finite') await sent;
};
