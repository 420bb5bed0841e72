import { Kafka, logLevel, Partitioners } from 'kafkajs';

import { EventStoreDb } from '../../src/adapters/eventstore/event-store.js';
import { eventsTopic } from '../../src/adapters/kafka/client.js';
import { Postgres } from '../../src/adapters/postgres/open.js';
import { PostgresReadModels } from '../../src/adapters/postgres/read-models.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { createLogger } from '../../src/config/logger.js';
import { npcs } from '../../projections/npcs.js';
import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { milliseconds, type PartReport, whole } from '../report.js';
import { type Pair, quantile, ratioOf, spreadOf } from '../rounds.js';
import { Mind, STEPS } from '../turn-history.js';
import { addresses, ownNamespace } from './addresses.js';
import { startRoles } from './roles.js';

/** How many steps of turns are recorded per second, spread over minds. The time until the read model is measured for every TIMED_EVERY-th. */
const STEPS_PER_SECOND = 200;
const MINDS = 200;
const TIMED_EVERY = 5;
const TICK_MS = 10;
const GOAL_MS = 250;
const REACH_TIMEOUT_MS = 10_000;
/** A new relay reads everything that others have written to the store. */
const START_TIMEOUT_MS = 120_000;

/** Calls a function at a fixed rate, whether or not the last call is done. Returns the times of the timed calls, in milliseconds. */
const paced = async (seconds: number, once: (count: number) => Promise<number | null>): Promise<readonly number[]> => {
  const began = performance.now();
  const pending: Promise<number | null>[] = [];
  while (performance.now() - began < seconds * 1_000) {
    const due = ((performance.now() - began) * STEPS_PER_SECOND) / 1_000;
    while (pending.length < due) pending.push(once(pending.length));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  return (await Promise.all(pending)).filter((ms) => ms !== null).sort((a, b) => a - b);
};

/**
 * From the acknowledged append to the row of the read model, through relay, Kafka, projector and PostgreSQL, under load; against a bare produce and
 * `eachBatch`.
 */
export const measureLag = async (effort: Effort): Promise<PartReport> => {
  const env = addresses();
  const namespace = ownNamespace();
  const log = createLogger('error', process.stderr, false);
  await using directory = await temporaryDirectory();
  await using roles = await startRoles(namespace, directory.path, ['relay', 'projector']);
  await using store = new EventStoreDb({ url: env.EVENTSTORE_URL, namespace, listOpen: () => Promise.resolve([]) });
  await using postgres = new Postgres({ url: env.DATABASE_URL, namespace, log });
  await using models = new PostgresReadModels(postgres, systemClock);
  const minds = Array.from({ length: MINDS }, (_, index) => new Mind(index, store, systemClock));
  const busy = new Set<Mind>();
  const steps = new Map<Mind, number>();
  let skipped = 0;

  /** The next step of a mind; a timed one counts from the answer of the append. */
  const step = async (count: number): Promise<number | null> => {
    const mind = minds[count % MINDS];
    if (mind === undefined || busy.has(mind)) {
      skipped += 1;
      return null;
    }
    busy.add(mind);
    const next = steps.get(mind) ?? 0;
    await mind.take(next);
    steps.set(mind, (next + 1) % STEPS);
    busy.delete(mind);
    if (count % TIMED_EVERY !== 0) return null;
    const from = performance.now();
    if (!(await models.reached(npcs, mind.stream, mind.revision, REACH_TIMEOUT_MS))) {
      throw new Error(`the read model did not reach ${mind.stream} within ${String(REACH_TIMEOUT_MS)} ms`);
    }
    return performance.now() - from;
  };

  const kafka = new Kafka({ brokers: env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING });
  const topic = `${namespace}-bare`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 8 }], waitForLeaders: true });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 500 });
  await producer.connect();
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const arrivals = new Map<string, (ms: number) => void>();
  await consumer.run({
    partitionsConsumedConcurrently: 8,
    eachBatch: ({ batch }) => {
      for (const { key } of batch.messages) arrivals.get(key?.toString() ?? '')?.(performance.now());
      return Promise.resolve();
    },
  });
  const value = JSON.stringify(minds.map(({ stream }) => stream).slice(0, 60));
  let series = 0;
  const produce = (): ((count: number) => Promise<number | null>) => {
    series += 1;
    return async (count) => {
      const key = `${String(series)}-${String(count)}`;
      const arrived = new Promise<number>((resolve) => arrivals.set(key, resolve));
      await producer.send({ topic, acks: -1, messages: [{ key, value, partition: count % 8 }] });
      if (count % TIMED_EVERY !== 0) return null;
      const from = performance.now();
      return Math.max(0.01, (await arrived) - from);
    };
  };

  try {
    await models.reachedPosition(npcs, await store.lastPosition(), START_TIMEOUT_MS);
    await paced(effort.warmUpSeconds, step);
    await paced(effort.warmUpSeconds, produce());
    const rounds: Pair<readonly number[]>[] = [];
    skipped = 0;
    for (let round = 0; round < effort.rounds; round += 1) {
      const reference = await paced(effort.seconds, produce());
      rounds.push({ ours: await paced(effort.seconds, step), reference });
    }
    const at = (share: number): readonly Pair<number>[] =>
      rounds.map(({ ours, reference }) => ({ ours: quantile(ours, share), reference: quantile(reference, share) }));
    const figure = (what: string, pairs: readonly Pair<number>[], goalMs: number | null) => {
      const { median } = spreadOf(pairs.map(({ ours }) => ours));
      return {
        what,
        ours: milliseconds(median),
        reference: `bare produce to eachBatch: ${milliseconds(spreadOf(pairs.map(({ reference }) => reference)).median)}`,
        ratio: ratioOf(pairs),
        goal: goalMs === null ? null : { text: `≤ ${String(goalMs)} ms`, met: median <= goalMs },
      };
    };
    return {
      figures: [
        figure('append to read model, p50', at(0.5), null),
        figure('append to read model, p99', at(0.99), GOAL_MS),
      ],
      remarks: [
        `Lag: ${whole(STEPS_PER_SECOND)} steps of turns a second were recorded; ${whole(skipped)} of ${whole(effort.rounds * effort.seconds * STEPS_PER_SECOND)} were left out because the mind’s last one was still being appended. ` +
          `The highest p99 of a round was ${milliseconds(spreadOf(at(0.99).map(({ ours }) => ours)).max)}.`,
      ],
    };
  } finally {
    await consumer.disconnect();
    await producer.disconnect();
    await roles[Symbol.asyncDispose]();
    await admin.deleteTopics({ topics: [topic, eventsTopic({ namespace })] });
    await admin.disconnect();
  }
};
