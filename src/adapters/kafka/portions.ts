import type { Message } from 'kafkajs';

import { MAX_MESSAGE_BYTES } from './link-format.js';

/** How long brokers may take to acknowledge, in milliseconds. */
export const ACKNOWLEDGE_MS = 8_000;
/** From all replicas that are in step. */
export const ACKS_ALL = -1;
/** More than what the protocol adds to a message, in bytes; headers included. */
const RECORD_BYTES = 200;

type Sized = Message & { readonly key: string | null; readonly value: Buffer };

/** Portions that are sent one after the other. What one request holds for one partition is one batch to the broker, and the size of a batch is bounded. */
export function* portions<Sent extends Sized>(messages: readonly Sent[]): Generator<readonly Sent[], void, undefined> {
  let portion: Sent[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.value.length + Buffer.byteLength(message.key ?? '') + RECORD_BYTES;
    if (portion.length > 0 && bytes + size > MAX_MESSAGE_BYTES) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(message);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}
