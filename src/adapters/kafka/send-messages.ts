import type { Message, Sender } from 'kafkajs';

import { inTime } from '../shared/within.js';
import { CALL_MS } from './client.js';
import { MAX_MESSAGE_BYTES } from './link-format.js';

/** How long brokers may take to acknowledge, in milliseconds. */
const ACKNOWLEDGE_MS = 8_000;
/** From all replicas that are in sync. */
const ACKS_ALL = -1;
/** More than the protocol adds to a message, in bytes; headers included. */
const RECORD_BYTES = 200;

/** A message whose size and partition are known. */
export type PlacedMessage = Message & {
  readonly partition: number;
  readonly key: string | null;
  readonly value: Buffer;
};

/**
 * Sends messages in their order and resolves once all of them are stored.
 * @throws what the brokers report; Error if they take too long, or if a partition was left out. Some of the messages may be stored then.
 */
export const sendMessages = async (
  sender: Pick<Sender, 'sendBatch'>,
  topic: string,
  messages: readonly PlacedMessage[],
): Promise<void> => {
  for (const portion of portions(messages)) {
    const topicMessages = [{ topic, messages: [...portion] }];
    const answers = await inTime(
      CALL_MS,
      sender.sendBatch({ topicMessages, acks: ACKS_ALL, timeout: ACKNOWLEDGE_MS }),
      `Writing to ${topic}`,
    );
    // The client (2.2.4) asks no broker twice within a call: a partition that moves to a broker that has answered already is never sent, and the call
    // succeeds without it.
    const stored = new Set(answers.map(({ partition }) => partition));
    const missing = portion.find(({ partition }) => !stored.has(partition));
    if (missing !== undefined) {
      throw new Error(`The partition ${missing.partition} of ${topic} moved to another broker and was not written.`);
    }
  }
};

/**
 * Portions that are sent one after the other. The messages of one partition in a request are one batch to the broker, and the size of a batch is
 * bounded.
 */
function* portions(messages: readonly PlacedMessage[]): Generator<readonly PlacedMessage[], void, undefined> {
  let portion: PlacedMessage[] = [];
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
