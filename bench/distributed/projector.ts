import { join } from 'node:path';

import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';

import { KafkaFeed } from '../../src/adapters/kafka/consumer.js';
import { KafkaFeedWriter } from '../../src/adapters/kafka/producer.js';
import { eventsTopic } from '../../src/adapters/kafka/client.js';
import { Postgres } from '../../src/adapters/postgres/open.js';
import { PostgresReadModels } from '../../src/adapters/postgres/read-models.js';
import { Database } from '../../src/adapters/embedded/database.js';
import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { createChain } from '../../src/kernel/read-models/feed-chain.js';
import { FeedProjector } from '../../src/kernel/read-models/feed-projector.js';
import { createLogger } from '../../src/config/logger.js';
import type { FeedLink } from '../../src/ports/event-feed.js';
import { distributedProjections } from '../../src/profiles/distributed.js';
import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { writeTurns } from '../turn-history.js';
import { addresses, ownNamespace } from './addresses.js';

const GOAL = 0.8;
const RELAY_EVENTS = 500;
const REACH_TIMEOUT_MS = 180_000;

/** What a consumer gets from a partition: the values of its messages. */
type Values = readonly (Buffer | null)[];

/**
 * Reads the complete topic with bare `eachBatch`, all partitions concurrently, until it has seen this many messages.
 * @returns events per second
 */
const consume = async (
  broker: { readonly kafka: Kafka; readonly topic: string; readonly groupId: string },
  { messages, events }: { readonly messages: number; readonly events: number },
  handle: (values: Values) => Promise<void>,
): Promise<number> => {
  const consumer = broker.kafka.consumer({ groupId: broker.groupId, maxWaitTimeInMs: 500 });
  await consumer.connect();
  await consumer.subscribe({ topics: [broker.topic], fromBeginning: true });
  let began = 0;
  let seen = 0;
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        partitionsConsumedConcurrently: 8,
        eachBatch: async ({ batch }) => {
          began ||= performance.now();
          await handle(batch.messages.map(({ value }) => value));
          seen += batch.messages.length;
          if (seen >= messages) resolve();
        },
      })
      .catch(reject);
  });
  const rate = (events * 1_000) / (performance.now() - began);
  await consumer.disconnect();
  return rate;
};

const eventsIn = (values: Values) =>
  values.flatMap((value) => (value === null ? [] : ((JSON.parse(value.toString()) as FeedLink).event ?? [])));

/** The rows that the read models would get, without folding: the last event of each stream and of each turn. */
const rowsOf = (values: Values): ReadonlyMap<string, string> => {
  const rows = new Map<string, string>();
  for (const { stream, data } of eventsIn(values)) {
    const { turnId } = data;
    rows.set(`npc ${stream}`, JSON.stringify(data));
    for (const model of ['turn', 'open'])
      if (typeof turnId === 'string') rows.set(`${model} ${turnId}`, JSON.stringify(data));
  }
  return rows;
};

/** The projector on a full topic, against bare `eachBatch` with the simplest way to write as many rows. */
export const measureProjector = async (effort: Effort): Promise<PartReport> => {
  const { KAFKA_BROKERS, DATABASE_URL } = addresses();
  const log = createLogger('error', process.stderr, false);
  const brokers = KAFKA_BROKERS.split(',');
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await using directory = await temporaryDirectory();
  const database = Database.open(join(directory.path, 'events.db'), { synchronous: 'FULL' });
  await using store = EmbeddedEventStore.open(database);
  const written = { events: 0, messages: 0 };
  const client = new pg.Pool({ connectionString: DATABASE_URL, max: 8 });
  const topics: string[] = [];
  const schemas: string[] = [];

  /** A namespace whose read models are live and empty, and whose topic then holds everything. */
  const prepare = async () => {
    const settings = { brokers, namespace: ownNamespace(), log };
    schemas.push(settings.namespace);
    topics.push(eventsTopic(settings));
    const postgres = new Postgres({ url: DATABASE_URL, namespace: settings.namespace, log });
    const models = new PostgresReadModels(postgres, systemClock);
    // Live before there are events: a build that begins later is made from the store and not from the topic.
    for (const projection of distributedProjections) await models.swapIn(await models.open(projection));
    await using session = await new KafkaFeedWriter(settings).open();
    const chain = createChain(0, session.partitions);
    let messages = 0;
    for (let after = 0; ;) {
      const events = await store.readAll(after, RELAY_EVENTS);
      const last = events.at(-1);
      if (last === undefined) break;
      const entries = chain.next(events);
      await session.write(entries);
      messages += entries.length;
      after = last.position;
    }
    written.messages = messages;
    return { settings, postgres, models };
  };

  /** Events per second until every read model reports that it has handled all of them. */
  const ours = async (): Promise<number> => {
    const { settings, postgres, models } = await prepare();
    const last = await store.lastPosition();
    const projector = new FeedProjector(
      { events: store, writer: models, clock: systemClock, log, feed: new KafkaFeed(settings) },
      distributedProjections,
    );
    const reached = Promise.all(
      distributedProjections.map((projection) => models.reachedPosition(projection, last, REACH_TIMEOUT_MS)),
    );
    const began = performance.now();
    projector.start();
    const all = (await reached).every(Boolean);
    const elapsed = performance.now() - began;
    await projector[Symbol.asyncDispose]();
    await models[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    if (!all) throw new Error('the projector did not come to the end');
    return (written.events * 1_000) / elapsed;
  };
  const topicOf = () => topics.at(-1) ?? '';
  const bareRows = async (): Promise<number> => {
    const table = `bare_${ownNamespace().replaceAll('-', '_')}`;
    await client.query(`CREATE TABLE ${table} (key text COLLATE "C" PRIMARY KEY, row text NOT NULL)`);
    const rate = await consume({ kafka, topic: topicOf(), groupId: ownNamespace() }, written, async (values) => {
      const rows = rowsOf(values);
      await client.query(
        `INSERT INTO ${table} SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT (key) DO UPDATE SET row = excluded.row`,
        [[...rows.keys()], [...rows.values()]],
      );
    });
    await client.query(`DROP TABLE ${table}`);
    return rate;
  };
  const bareRead = (): Promise<number> =>
    consume({ kafka, topic: topicOf(), groupId: ownNamespace() }, written, async (values) => {
      eventsIn(values);
      return Promise.resolve();
    });

  try {
    written.events = await writeTurns(
      { store, clock: systemClock },
      { events: effort.rebuildEvents / 2, openTurns: 0 },
    );
    await ours();
    const pairs: Pair<number>[] = [];
    const reads: number[] = [];
    for (let round = 0; round < effort.rounds; round += 1) {
      pairs.push(await measurePair(round, ours, bareRows));
      reads.push(await bareRead());
    }
    const ratio = ratioOf(pairs);
    return {
      figures: [
        {
          what: `projector, ${String(distributedProjections.length)} read models of ${whole(written.events)} events`,
          ours: `${whole(spreadOf(pairs.map((pair) => pair.ours)).median)} events/s`,
          reference: `bare eachBatch that upserts as many rows: ${whole(spreadOf(pairs.map((pair) => pair.reference)).median)} events/s`,
          ratio,
          goal: { text: `≥ ${String(GOAL)}`, met: ratio.median >= GOAL },
        },
      ],
      remarks: [
        `Projector: a bare eachBatch that only parses the messages handled ${whole(spreadOf(reads).median)} events/s.`,
      ],
    };
  } finally {
    await admin.deleteTopics({ topics });
    await admin.disconnect();
    for (const schema of schemas) await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await client.end();
  }
};
