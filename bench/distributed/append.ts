import { randomBytes, randomUUID } from 'node:crypto';

import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';

import { EventStoreDb } from '../../src/adapters/eventstore/event-store.js';
import type { EventMeta } from '../../src/ports/event-store.js';
import type { Effort } from '../effort.js';
import { type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { directiveAt } from '../scene.js';
import { addresses, ownNamespace } from './addresses.js';

/** How many streams are appended to concurrently, each one event after the other. */
const WIDTHS = [256, 32, 1] as const;
const GOAL = 0.8;

type Append = (stream: string, revision: number) => Promise<void>;

const metaOf = (): EventMeta => ({
  tenant: 'local',
  actor: 'bench',
  correlationId: randomUUID(),
  causationId: null,
  commandId: randomUUID(),
  schemaVersion: 1,
  at: new Date().toISOString(),
  prevHash: '0'.repeat(64),
  hash: 'a'.repeat(64),
});

/** Appends per second. */
const rateOf = async (append: Append, width: number, seconds: number): Promise<number> => {
  const began = performance.now();
  const until = began + seconds * 1_000;
  let appended = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      const stream = `npc-local-${randomBytes(6).toString('hex')}`;
      for (let revision = -1; performance.now() < until; revision += 1) {
        await append(stream, revision);
        appended += 1;
      }
    }),
  );
  return (appended * 1_000) / (performance.now() - began);
};

/** One-event appends with an exact expected revision through the product's adapter, against the bare client with the same number in flight. */
export const measureAppends = async (effort: Effort): Promise<PartReport> => {
  const url = addresses().EVENTSTORE_URL;
  const client = EventStoreDBClient.connectionString(url);
  const namespace = ownNamespace();
  await using store = new EventStoreDb({ url, namespace, listOpen: () => Promise.resolve([]) });
  const bare: Append = async (stream, revision) => {
    const event = jsonEvent({ id: randomUUID(), type: 'DirectiveGiven', data: directiveAt(0), metadata: metaOf() });
    const expectedRevision = revision < 0 ? ('no_stream' as const) : BigInt(revision);
    await client.appendToStream(`${namespace}-bare-${stream}`, event, { expectedRevision });
  };
  const ours: Append = async (stream, revision) => {
    const event = { id: randomUUID(), type: 'DirectiveGiven', data: directiveAt(0), meta: metaOf() };
    const outcome = await store.append(stream, revision < 0 ? 'no_stream' : revision, [event]);
    if (!outcome.ok) throw new Error(`somebody else writes to ${stream}`);
  };
  try {
    const pairs = new Map<number, Pair<number>[]>();
    for (const width of WIDTHS) {
      await rateOf(bare, width, effort.warmUpSeconds / 2);
      await rateOf(ours, width, effort.warmUpSeconds / 2);
      const measured: Pair<number>[] = [];
      for (let round = 0; round < effort.rounds; round += 1) {
        measured.push(
          await measurePair(
            round,
            () => rateOf(ours, width, effort.seconds / 2),
            () => rateOf(bare, width, effort.seconds / 2),
          ),
        );
      }
      pairs.set(width, measured);
    }
    return {
      figures: [...pairs].map(([width, measured]) => {
        const ratio = ratioOf(measured);
        return {
          what: `appends, ${String(width)} in flight`,
          ours: `${whole(spreadOf(measured.map((pair) => pair.ours)).median)}/s`,
          reference: `bare client: ${whole(spreadOf(measured.map((pair) => pair.reference)).median)}/s`,
          ratio,
          goal: { text: `≥ ${String(GOAL)}`, met: ratio.median >= GOAL },
        };
      }),
      remarks: [],
    };
  } finally {
    await client.dispose();
  }
};
