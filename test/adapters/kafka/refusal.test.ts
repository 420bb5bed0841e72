import { describe, expect, it } from 'vitest';

import { kafkaRefusal } from '../../../src/adapters/kafka/refusal.js';
import type { KafkaAccess } from '../../../src/ports/server-access.js';

const plain: KafkaAccess = { tls: null, sasl: null };
const encrypted: KafkaAccess = { tls: { ca: null, client: null, serverName: null }, sasl: null };
const certified: KafkaAccess = {
  tls: { ca: null, client: { certificate: '', key: '' }, serverName: null },
  sasl: null,
};
const named: KafkaAccess = { tls: null, sasl: { mechanism: 'plain', username: 'anima', password: 'hush' } };

const said = (message: string, ...how: readonly [KafkaAccess?, boolean?]): string =>
  kafkaRefusal(new Error(message), ...how).message;

describe('A coordinator that the client does not find', () => {
  const lost = 'Failed to find group coordinator';

  it('is away, or cannot be made, for somebody whom the brokers do not know', () => {
    for (const access of [undefined, plain, encrypted]) {
      const message = said(lost, access);
      expect(message).toContain('coordinator is away');
      expect(message).toContain('offsets.topic.replication.factor');
      expect(message).toContain('transaction.state.log.replication.factor');
      expect(message).not.toContain('rights');
    }
  });

  it('is a matter of rights for somebody with a name', () => {
    for (const access of [certified, named]) expect(said(lost, access)).toContain('Look at the rights of');
  });
});

describe('Brokers that hang up', () => {
  it('may speak TLS alone, or ask who we are, when they have never answered', () => {
    expect(said('read ECONNRESET', plain, true)).toContain('Look at KAFKA_TLS:');
    expect(said('read ECONNRESET', encrypted, true)).toContain('Look at KAFKA_SASL_MECHANISM:');
    expect(said('read ECONNRESET', plain)).toBe('read ECONNRESET');
  });
});
