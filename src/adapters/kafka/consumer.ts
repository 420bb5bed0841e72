import { setTimeout as sleep } from 'node:timers/promises';

import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';

import { READ_BYTES } from '../../kernel/base/page-size.js';
import type { EventFeed, FeedHandlers } from '../../ports/event-feed.js';
import { inTime, within } from '../shared/within.js';
import {
  CALL_MS,
  closeClient,
  eventsTopic,
  type KafkaSettings,
  openKafkaClient,
  projectorGroup,
  RETRY,
} from './client.js';
import { decodeLink } from './link-format.js';
import { watchForLoss } from './loss-watch.js';
import { kafkaRefusal } from './refusal.js';
import { EVENT_PARTITIONS, ensureTopic } from './topic.js';

/**
 * In milliseconds: how long a silent member keeps its partitions, how often it sends a heartbeat, and how long to wait for other members while
 * partitions are assigned.
 */
const SESSION_MS = 6_000;
const HEARTBEAT_MS = 1_000;
const REBALANCE_MS = 8_000;
/** How long the broker delays its answer while there is nothing new, in milliseconds. Stopping waits for it at most this long. */
const FETCH_WAIT_MS = 1_000;
/** How often offsets are committed, in milliseconds. Links that are delivered again after a crash were handled before and are skipped. */
const COMMIT_MS = 1_000;
/** How long a member may show no activity, in milliseconds. The longest wait between two signs is the wait for the other members. */
const SILENT_MS = 20_000;
/** How long after a lost connection the next one is tried, in milliseconds; the last one repeats. */
const REOPEN_MS = [100, 250, 500, 1_000, 2_000] as const;

/** Offsets that may be committed: what is before them need not be delivered again. */
type Offsets = Map<number, string>;

/**
 * Reads a namespace's topic as a member of the projectors' group. The client retries little, and a new one is made whenever it gives up, because it
 * never recovers from a failed first connect.
 */
export class KafkaFeed implements EventFeed {
  readonly #kafka: Kafka;
  readonly #topic: string;
  readonly #groupId: string;
  readonly #settings: KafkaSettings;

  constructor(settings: KafkaSettings) {
    this.#kafka = openKafkaClient(settings);
    this.#topic = eventsTopic(settings);
    this.#groupId = projectorGroup(settings);
    this.#settings = settings;
  }

  async follow(handlers: FeedHandlers, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#member(handlers, signal, () => (failures = 0));
      } catch (error) {
        const err = kafkaRefusal(error);
        if (failures === 0) this.#settings.log.warn({ err }, 'Lost the event feed; resuming');
      }
      // A process that is not a member has no partitions.
      handlers.assigned([], EVENT_PARTITIONS);
      const wait = REOPEN_MS[Math.min(failures, REOPEN_MS.length - 1)];
      await sleep(wait, undefined, { signal }).catch(() => undefined);
      failures += 1;
    }
  }

  /** Stays a member of the group until told to stop. @throws when the client gives up */
  async #member(handlers: FeedHandlers, signal: AbortSignal, onAssigned: () => void): Promise<void> {
    const count = await ensureTopic(this.#kafka, this.#topic, this.#settings);
    const consumer = this.#kafka.consumer({
      groupId: this.#groupId,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: REBALANCE_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: READ_BYTES,
      allowAutoTopicCreation: false,
      retry: { ...RETRY, restartOnFailure: () => Promise.resolve(false) },
    });
    let owned: ReadonlySet<number> = new Set();
    let over = false;
    const isOver = (): boolean => over;
    const offsets: Offsets = new Map();
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const loss = watchForLoss(consumer, SILENT_MS);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      if (over) return;
      const assigned = payload.memberAssignment[this.#topic] ?? [];
      owned = new Set(assigned);
      for (const partition of offsets.keys()) if (!owned.has(partition)) offsets.delete(partition);
      handlers.assigned(assigned, count);
      onAssigned();
    });
    let joining = true;
    const isJoining = (): boolean => joining;
    const join = async (): Promise<void> => {
      await consumer.connect();
      if (isOver()) return;
      await consumer.subscribe({ topics: [this.#topic], fromBeginning: true });
      if (isOver()) return;
      const commit = committer(this.#topic, offsets);
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: count,
        eachBatch: (payload) => eachBatch(payload, handlers, offsets, commit, () => owned),
      });
    };
    const joined = join().finally(() => (joining = false));
    try {
      await Promise.race([joined.then(() => stopped), loss.lost]);
    } finally {
      signal.removeEventListener('abort', stop);
      loss.end();
      // A client that hung may continue later.
      over = true;
      owned = new Set();
      if (signal.aborted) await commitLast(consumer, this.#topic, offsets);
      // A client that is closed while it joins forgets the member, which may still join later, and then nothing stops it. So it is closed afterwards.
      if (isJoining()) void joined.catch(() => undefined).then(() => closeClient(consumer));
      else await closeClient(consumer);
    }
  }
}

const eachBatch = async (
  payload: EachBatchPayload,
  handlers: FeedHandlers,
  offsets: Offsets,
  commit: (payload: EachBatchPayload) => Promise<void>,
  owned: () => ReadonlySet<number>,
): Promise<void> => {
  const { batch } = payload;
  const { partition } = batch;
  const links = batch.messages.flatMap(({ value }) => decodeLink(value) ?? []);
  const bytes = batch.messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  const isStale = (): boolean => !payload.isRunning() || payload.isStale() || !owned().has(partition);
  const heartbeat = (): Promise<void> => inTime(CALL_MS, payload.heartbeat(), 'A heartbeat');
  const handled = handlers.handle({ partition, links, bytes, isStale });
  handled.catch(() => undefined);
  let done = await within(HEARTBEAT_MS, handled);
  // A long batch must not cost the membership. A heartbeat also throws when partitions are reassigned, which ends the wait.
  while (done === null) {
    await heartbeat();
    done = await within(HEARTBEAT_MS, handled);
  }
  if (isStale()) return;
  payload.resolveOffset(batch.lastOffset());
  if (done) offsets.set(partition, (BigInt(batch.lastOffset()) + 1n).toString());
  await inTime(CALL_MS, commit(payload), 'Committing offsets');
  await heartbeat();
};

/** Commits the noted offsets from time to time. */
const committer = (topic: string, offsets: Offsets) => {
  let committedMs = 0;
  return async (payload: EachBatchPayload): Promise<void> => {
    const nowMs = performance.now();
    if (offsets.size === 0 || nowMs - committedMs < COMMIT_MS) return;
    committedMs = nowMs;
    const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset }));
    offsets.clear();
    await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions }] });
  };
};

const commitLast = async (consumer: Consumer, topic: string, offsets: Offsets): Promise<void> => {
  const noted = [...offsets].map(([partition, offset]) => ({ topic, partition, offset }));
  if (noted.length > 0)
    await within(
      COMMIT_MS,
      consumer.commitOffsets(noted).catch(() => undefined),
    );
};
