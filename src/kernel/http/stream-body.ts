import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.js';
import { Rejection } from '../base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import { connectionLimits } from './connection-limits.js';
import type { Lifecycle } from './lifecycle.js';
import { onClosed } from './on-closed.js';
import type { RequestContext } from './request-state.js';
import type { Chunk, ResponseDefinition, StreamedAnswer } from './route.js';

export type StreamDeps = { readonly lifecycle: Lifecycle; readonly clock: Clock; readonly log: Log };

/** For this many bytes of a finite stream its client has the time of a whole answer; the largest whole answer is as large. */
const TIMED_BYTES = 16 * 1024 * 1024;
/** After this many bytes, other work runs: the system may accept chunk after chunk without a pause. */
const PAUSE_BYTES = 64 * 1024;

type NextChunk = IteratorResult<Chunk, unknown>;

/** Cuts a client that takes too long over each part of an answer; `passed` counts what it has been given. */
const timed = (res: ServerResponse, clock: Clock) => {
  const cut = (): (() => void) => clock.after(connectionLimits.answerTimeoutMs, () => res.destroy());
  let cancel = cut();
  let bytes = 0;
  return {
    passed: (length: number): void => {
      bytes += length;
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

/** The chunks of an answer until it is over: at its end, or when it is left, by its client or because the server stops. */
const leavable = (
  { chunks }: StreamedAnswer,
  kind: NonNullable<ResponseDefinition['stream']>,
  ctx: Pick<RequestContext, 'req' | 'res'>,
  { stopping }: Lifecycle,
) => {
  const left = new AbortController();
  const iterator = chunks(left.signal)[Symbol.asyncIterator]();
  const giveBack = async (): Promise<void> => {
    await iterator.return?.();
  };
  let isOver = false;
  /** Nothing more comes. */
  const end = (): void => {
    isOver = true;
    stopping.removeEventListener('abort', leave);
  };
  const leave = (): void => {
    if (isOver) return;
    end();
    left.abort();
    giveBack().catch(() => undefined);
  };
  if (kind === 'endless') {
    stopping.addEventListener('abort', leave, { once: true });
    if (stopping.aborted) leave();
  }
  // Last, because it calls `leave` immediately if the client has already disconnected.
  onClosed(ctx, leave);
  return { iterator, signal: left.signal, isOver: () => isOver, end, leave };
};

/**
 * The first chunk.
 * @returns null when the answer is left before it
 * @throws what is thrown before it
 */
const firstOf = ({ iterator, signal }: ReturnType<typeof leavable>): Promise<NextChunk | null> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve(null);
      return;
    }
    signal.addEventListener('abort', () => resolve(null), { once: true });
    iterator.next().then(resolve, reject);
  });

/** The chunks of a response, produced no faster than they are read. */
type Sending = {
  readonly stream: ReturnType<typeof leavable>;
  readonly first: NextChunk;
  /** Counts the bytes that are sent. */
  readonly passed: (bytes: number) => void;
  /** Told what the stream has thrown. */
  readonly onCut: (error: unknown) => void;
};

const readableOf = ({ stream: { iterator, signal, end, leave }, first, passed, onCut }: Sending): Readable => {
  let unpaused = 0;
  let isAsking = false;
  const give = (step: NextChunk): void => {
    if (step.done === true) {
      end();
      body.push(null);
    } else if (step.value.length > 0) {
      const bytes = Buffer.byteLength(step.value);
      unpaused += bytes;
      passed(bytes);
      body.push(step.value);
    }
  };
  const ask = async (): Promise<void> => {
    isAsking = true;
    try {
      if (unpaused >= PAUSE_BYTES) {
        unpaused = 0;
        await yieldToEventLoop();
      }
      let step: NextChunk;
      do step = await iterator.next();
      while (step.done !== true && step.value.length === 0);
      isAsking = false;
      if (!signal.aborted) give(step);
    } catch (error) {
      if (signal.aborted) return;
      end();
      onCut(error);
      body.destroy(error as Error);
    }
  };
  const body = new Readable({
    // Nothing is made before the connection has taken what was made before.
    highWaterMark: 0,
    read: () => {
      if (!isAsking && !signal.aborted) void ask();
    },
    destroy: (error, done) => {
      leave();
      done(error);
    },
  });
  give(first);
  if (signal.aborted) body.push(null);
  else signal.addEventListener('abort', () => body.push(null), { once: true });
  return body;
};

/**
 * Gives Koa an answer to send as it is made (StreamedAnswer says how), once its first chunk is there. A client that takes nothing is cut by the
 * server's own limit (connection-limits.ts). A client that takes too little is cut by the limit for a whole answer.
 * @throws what is thrown before the first chunk; Rejection NOT_READY when the stream is left before that chunk
 */
export const respondStream = async (
  ctx: Pick<RequestContext, 'status' | 'body' | 'set' | 'flushHeaders' | 'state' | 'req' | 'res'>,
  status: number,
  answer: StreamedAnswer,
  kind: NonNullable<ResponseDefinition['stream']>,
  { lifecycle, clock, log }: StreamDeps,
): Promise<void> => {
  const { req, res, state } = ctx;
  // A client's leaving is reported only once, possibly before this listener existed.
  if (res.destroyed || res.headersSent) return;
  const begin = (): void => {
    ctx.status = status;
    ctx.set('Content-Type', answer.type);
    ctx.flushHeaders();
  };
  if (req.method === 'HEAD') {
    begin();
    return;
  }
  const stream = leavable(answer, kind, ctx, lifecycle);
  let first: NextChunk | null;
  try {
    first = await firstOf(stream);
  } catch (thrown) {
    stream.end();
    throw thrown;
  }
  // No effect when it was the client that left.
  if (first === null) throw new Rejection('NOT_READY');
  const time = kind === 'finite' ? timed(res, clock) : null;
  const body = readableOf({
    stream,
    first,
    passed: (bytes) => time?.passed(bytes),
    onCut: (err) => {
      const { requestId, operationId: operation } = state;
      log.error({ err, requestId, operation }, 'A streamed response was cut off');
    },
  });
  const { heartbeat } = answer;
  const stopBeating =
    heartbeat &&
    every(clock, heartbeat.everyMs, () => {
      if (!stream.isOver() && !res.writableNeedDrain && body.readableLength === 0) body.push(heartbeat.chunk);
    });
  onClosed(ctx, () => {
    time?.stop();
    stopBeating?.();
  });
  begin();
  ctx.body = body;
  state.streams = true;
};
