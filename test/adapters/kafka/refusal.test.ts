import { describe, expect, it } from 'vitest';

import { kafkaRefusal } from '../../../src/adapters/kafka/refusal.js';

describe('A failure of the Kafka client', () => {
  it('has the message of the client, and names the settings to check', () => {
    const failure = new Error('Failed to find group coordinator');
    const { message, cause } = kafkaRefusal(failure);
    expect(message).toMatch(/^Failed to find group coordinator \(If this persists, check KAFKA_BROKERS, /);
    expect(cause).toBe(failure);
  });

  it('describes what happened to each topic', () => {
    const failure = Object.assign(new Error('Topic creation errors'), { errors: [new Error('Policy'), 'no error'] });
    expect(kafkaRefusal(failure).message).toContain('Topic creation errors: Policy (');
  });
});
