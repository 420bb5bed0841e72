import { randomUUID } from 'node:crypto';

import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';

import { appendAnswerOf, AppendFailed, type ExactAnswer } from './append-answers.js';
import { COUNTER_DIGITS, type ExactAppend, messageOf, numberOf } from './batch-messages.js';
import type { BatchStream } from './store-connection.js';
import { GRPC } from './store-failures.js';

/** No answer came in time. */
export class NoAnswer extends Error {
  readonly code = GRPC.deadlineExceeded;
}

type WaitingCall = {
  readonly resolve: (answer: ExactAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
};

/**
 * The appends of one BatchAppend call: sent in order, answered in any order. When the call ends, only those without an answer are rejected, with the
 * reason of the end. An answer to an abandoned append is dropped.
 */
export class BatchCall {
  readonly #stream: BatchStream;
  readonly #id = randomUUID().slice(0, -COUNTER_DIGITS);
  readonly #waiting = new Map<number, WaitingCall>();
  #count = 0;
  #ended: Error | null = null;

  /** @param node aborts when the client leaves the node that serves the call */
  constructor(stream: BatchStream, node: AbortSignal) {
    this.#stream = stream;
    const left = (): void => {
      this.#end(new NoAnswer('The node of the batch call does not respond.'));
      stream.cancel();
    };
    node.addEventListener('abort', left, { once: true });
    stream.once('close', () => node.removeEventListener('abort', left));
    stream.on('data', (response: BatchAppendResp) => this.#answered(response));
    stream.on('error', (error: Error) => this.#end(error));
    const closed = (): void => this.#end(new NoAnswer('The event store ended the batch call.'));
    stream.on('end', closed);
    stream.on('close', closed);
    if (node.aborted) left();
  }

  get ended(): boolean {
    return this.#ended !== null;
  }

  /**
   * Sends an append and waits at most `timeoutMs` for the answer.
   * @throws AppendFailed if the server refused it for a reason other than a conflict; NoAnswer; what ended the call
   */
  append(append: ExactAppend, timeoutMs: number): Promise<ExactAnswer> {
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#count += 1;
      const number = this.#count;
      const timer = setTimeout(() => {
        this.#waiting.delete(number);
        reject(new NoAnswer(`No response within ${timeoutMs} ms.`));
      }, timeoutMs);
      this.#waiting.set(number, { resolve, reject, timer });
      // What the connection cannot accept yet stays in the stream's buffer, which is as large as the appends in flight may be.
      this.#stream.write(messageOf(this.#id, number, append));
    });
  }

  #answered(response: BatchAppendResp): void {
    const number = numberOf(response);
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    this.#waiting.delete(number);
    clearTimeout(waiting.timer);
    const answer = appendAnswerOf(response);
    if (answer instanceof AppendFailed) waiting.reject(answer);
    else waiting.resolve(answer);
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }
}
