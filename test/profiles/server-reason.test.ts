import { describe, expect, it } from 'vitest';

import { serverReason } from '../../src/profiles/server-reason.js';
import { Rejection } from '../../src/kernel/base/rejection.js';

const refusal = (cause: Error): Rejection => {
  const rejection = new Rejection('DATABASE_UNAVAILABLE', { retryAfter: 1 });
  rejection.cause = cause;
  return rejection;
};
const coded = (code: string | number, message: string): Error => Object.assign(new Error(message), { code });

describe('The reason why a server does not answer', () => {
  it.each([
    ['28P01', 'password authentication failed for user "anima"', 'the server rejected the user or the password'],
    ['28000', 'role "x" is not permitted to log in', 'the server rejected the user or the password'],
    ['3D000', 'database "nope" does not exist', 'the server has no database with this name'],
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1', 'nothing listens at this address'],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND nobody.invalid', 'the host name cannot be resolved'],
    ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN nobody.invalid', 'the host name cannot be resolved'],
    [5, '5 NOT_FOUND: Namespace nowhere is not found.', 'the server does not know this name'],
    [7, '7 PERMISSION_DENIED: anima may not read', 'the server denied permission'],
    [14, '14 UNAVAILABLE: Name resolution failed for target dns:nobody.invalid:2113', 'the server is unreachable'],
    [16, '16 UNAUTHENTICATED: unauthenticated', 'the server rejected the user or the password'],
  ])('names the setting to check for %s %s, and neither the user nor the address', (code, message, reason) => {
    expect(serverReason(refusal(coded(code, message)), 'THE_URL').message).toBe(`Check THE_URL: ${reason}.`);
    expect(serverReason(coded(code, message), 'THE_URL').message).toBe(`Check THE_URL: ${reason}.`);
  });

  it("does not take another server's number for a gRPC status", () => {
    const timedOut = Object.assign(new Error('The request timed out'), { name: 'KafkaJSProtocolError', code: 7 });
    expect(serverReason(timedOut, 'KAFKA_BROKERS')).toBe(timedOut);
  });

  it('leaves other failures unchanged', () => {
    const failure = refusal(coded('57P03', 'the database system is starting up'));
    expect(serverReason(failure, 'THE_URL')).toBe(failure);
    expect(serverReason('no error at all', 'THE_URL').message).toBe('no error at all');
  });

  it('ends with a cyclic cause', () => {
    const failure = new Error('round');
    failure.cause = failure;
    expect(serverReason(failure, 'THE_URL')).toBe(failure);
  });
});
