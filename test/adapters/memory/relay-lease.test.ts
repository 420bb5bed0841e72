import { MemoryRelayLease } from '../../../src/adapters/memory/relay-lease.js';
import { HOLDS_MS, relayLeaseContract } from '../../contracts/relay-lease.js';
import { ManualClock } from '../../support/manual-clock.js';

relayLeaseContract('Memory', () => {
  const clock = new ManualClock();
  const lease = new MemoryRelayLease(clock, HOLDS_MS);
  return {
    lease: () => lease,
    lapse: async () => clock.advance(HOLDS_MS + 100),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
});
