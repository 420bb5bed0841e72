import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';

import { startStandIn } from './start.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const event = (n: number) => jsonEvent({ type: 'happened', data: { n } });

const numbersOf = async (client: EventStoreDBClient, stream: string): Promise<number[]> => {
  const numbers: number[] = [];
  for await (const { event: read } of client.readStream<{ type: 'happened'; data: { n: number } }>(stream))
    if (read !== undefined) numbers.push(read.data.n);
  return numbers;
};

describe('the stand-in for EventStoreDB, killed and restarted on its data', () => {
  it('still has every event whose append it answered, and appends behind them', async () => {
    await using data = await temporaryDirectory();
    const first = await startStandIn(data.path);
    await using _first = first.child;
    const client = EventStoreDBClient.connectionString(first.url);
    const answered: number[] = [];
    const appends = Array.from({ length: 2_000 }, async (_, n) => {
      await client.appendToStream('s', event(n));
      answered.push(n);
      if (answered.length === 500) await first.child.kill();
    });
    await Promise.allSettled(appends);
    await client.dispose();

    const second = await startStandIn(data.path);
    await using _second = second.child;
    const again = EventStoreDBClient.connectionString(second.url);
    const kept = await numbersOf(again, 's');
    expect(answered.length).toBeGreaterThanOrEqual(500);
    expect(kept).toEqual(expect.arrayContaining(answered));
    expect(new Set(kept).size).toBe(kept.length);
    const { nextExpectedRevision } = await again.appendToStream('s', event(-1), {
      expectedRevision: BigInt(kept.length - 1),
    });
    expect(nextExpectedRevision).toBe(BigInt(kept.length));
    expect(await numbersOf(again, 's')).toEqual([...kept, -1]);
    await again.dispose();
  });

  it('recognises the ids of appends with a revision, and has forgotten those of appends without one', async () => {
    await using data = await temporaryDirectory();
    const [exact, any] = [event(1), event(2)];
    const first = await startStandIn(data.path);
    await using _first = first.child;
    const client = EventStoreDBClient.connectionString(first.url);
    const { position } = await client.appendToStream('exact', exact, { expectedRevision: 'no_stream' });
    await client.appendToStream('any', any);
    await client.appendToStream('any', any);
    expect(await numbersOf(client, 'any')).toEqual([2]);
    await client.dispose();
    await first.child.kill();

    const second = await startStandIn(data.path);
    await using _second = second.child;
    const again = EventStoreDBClient.connectionString(second.url);
    const repeated = await again.appendToStream('exact', exact, { expectedRevision: 'no_stream' });
    expect(repeated.position).toEqual(position);
    expect(await numbersOf(again, 'exact')).toEqual([1]);
    await again.appendToStream('any', any);
    expect(await numbersOf(again, 'any')).toEqual([2, 2]);
    await again.dispose();
  });

  it('ends on SIGTERM, even with a subscription, and reopens cleanly', async () => {
    await using data = await temporaryDirectory();
    const first = await startStandIn(data.path);
    await using _first = first.child;
    const client = EventStoreDBClient.connectionString(first.url);
    await client.appendToStream('s', event(1), { expectedRevision: 'no_stream' });
    const subscription = client.subscribeToStream('s');
    const caughtUp = new Promise((resolve) => subscription.once('caughtUp', resolve));
    const ended = new Promise((resolve) => subscription.once('error', resolve));
    subscription.resume();
    await caughtUp;
    first.child.signal('SIGTERM');
    expect(await first.child.exited()).toEqual({ code: 0, signal: null });
    await ended;
    await client.dispose();

    const second = await startStandIn(data.path);
    await using _second = second.child;
    const again = EventStoreDBClient.connectionString(second.url);
    expect(await numbersOf(again, 's')).toEqual([1]);
    await again.dispose();
  });
});
