import type { Producer, Transaction } from 'kafkajs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CALL_MS } from '../../../src/adapters/kafka/client.js';
import { partitionOfKey, publish } from '../../../src/adapters/kafka/publisher.js';
import { sendMessages } from '../../../src/adapters/kafka/send-messages.js';

const messages = [0, 1].map((partition) => ({ partition, key: 'mind', value: Buffer.from('{}') }));
/** The client's answer after it has written these partitions. */
const answering = (...partitions: readonly number[]) => ({
  sendBatch: async () => partitions.map((partition) => ({ topicName: 'minds', partition, errorCode: 0 })),
});

describe('A write whose partition moves to a broker that has already answered', () => {
  it('counts as incomplete', async () => {
    await expect(sendMessages(answering(0), 'minds', messages)).rejects.toThrow('The partition 1 of minds moved');
    await expect(sendMessages(answering(), 'minds', messages)).rejects.toThrow('The partition 0 of minds moved');
    await sendMessages(answering(1, 0), 'minds', messages);
  });

  it('is not committed', async () => {
    const calls: string[] = [];
    const producerOf = (...stored: readonly number[]): Pick<Producer, 'transaction'> => ({
      transaction: async () =>
        ({
          ...answering(...stored),
          isActive: () => true,
          commit: async () => void calls.push('commit'),
          abort: async () => void calls.push('abort'),
        }) as unknown as Transaction,
    });
    await expect(publish(producerOf(0), 'minds', messages)).rejects.toThrow('moved');
    expect(calls).toEqual(['abort']);
    await publish(producerOf(0, 1), 'minds', messages);
    expect(calls).toEqual(['abort', 'commit']);
  });
});

describe('A call that the client never answers', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const never = () => new Promise<never>(() => undefined);

  it('is given up during a write', async () => {
    const written = expect(sendMessages({ sendBatch: never }, 'minds', messages)).rejects.toThrow(
      'Writing to minds took longer than 30000 ms.',
    );
    await vi.advanceTimersByTimeAsync(CALL_MS);
    await written;
  });

  it('is given up during a publish, wherever it hangs', async () => {
    const transaction = { ...answering(0, 1), isActive: () => true, commit: async () => undefined, abort: never };
    const hanging = [
      { transaction: never },
      ...[{ sendBatch: never }, { commit: never }].map((part) => ({
        transaction: async () => ({ ...transaction, ...part }) as unknown as Transaction,
      })),
    ];
    for (const producer of hanging) {
      const published = expect(publish(producer, 'minds', messages)).rejects.toThrow('took longer than 30000 ms.');
      // The transaction, and its commit.
      await vi.advanceTimersByTimeAsync(CALL_MS * 2);
      await published;
    }
  });
});

describe('A key of the public topic', () => {
  // The hashes of these keys are from the tests of Kafka's own Java client (UtilsTest, murmur2).
  it.each([
    ['21', -973_932_308],
    ['foobar', -790_332_482],
    ['a-little-bit-long-string', -985_981_536],
  ])('%s is in the partition that Kafka’s default partitioner chooses', (key, hash) => {
    for (const partitions of [1, 7, 8]) expect(partitionOfKey(key, partitions)).toBe((hash & 0x7fffffff) % partitions);
  });
});
