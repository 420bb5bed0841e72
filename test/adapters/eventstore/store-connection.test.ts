import { describe, expect, it } from 'vitest';

import { StoreConnection } from '../../../src/adapters/eventstore/store-connection.js';
import { StartProblem } from '../../../src/domain/shared/start-problem.js';

describe('An address that the client of EventStoreDB refuses', () => {
  it.each([
    ['esdb://anima:hush@store.example:2113?tls=true&tlsCAFile=/none/ca.pem', /File was not found/],
    ['esdb://anima:hush@store.example:2113?tls=maybe', /no connection string/],
    ['esdb://anima:hush', /no connection string/],
    ['esdb://anima:hush%@store.example:2113', /no connection string/],
  ])('is a problem at the start that names its setting and no password: %s', (url, reason) => {
    const open = () => new StoreConnection(url);
    expect(open).toThrow(StartProblem);
    expect(open).toThrow(/^EVENTSTORE_URL cannot be used: /);
    expect(open).toThrow(reason);
    expect(open).not.toThrow(/hush/);
  });
});
