import { expect } from 'vitest';

import { EventStoreDb } from '../../src/adapters/eventstore/event-store.js';
import { Postgres } from '../../src/adapters/postgres/open.js';
import { PostgresReadModels } from '../../src/adapters/postgres/read-models.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { rebuild } from '../../src/kernel/read-models/rebuild.js';
import { createLogger } from '../../src/config/logger.js';
import { distributedProjections } from '../../src/profiles/distributed.js';
import { OPEN_PROCESSES_PARTITION, openProcesses } from '../../projections/open-processes.js';
import { randomNamespace } from './dist-env.js';
import type { Namespace } from './distributed-server.js';
import { answersTo, createWriter, expectWholeHistory, rowsOf, untilAnswers } from './writers.js';

const WRITERS = 12;
const MINDS = 4;
const PAUSE_MS = 50;
/** How long responses and read models may take once every server is back: a killed HTTP process holds its keys for 10 s. */
const ANSWERS_LIMIT_MS = 60_000;
const READ_MODELS_LIMIT_MS = 60_000;
/** How much of the processes' output is shown when read models stay behind. */
const OUTPUT_CHARS = 8_000;

/** Bodies that play while a test takes servers away. They continue in the next test where they were. */
export type Load = {
  /**
   * Plays against these processes while `during` runs, then checks the history. `during` is given a function that waits for that many more responses.
   * @throws errors of `during`, and the first refusal other than "later"
   */
  run(urls: readonly string[], during: (answers: (count: number) => Promise<void>) => Promise<void>): Promise<void>;
};

export const createLoad = (namespace: Namespace): Load => {
  const writers = Array.from({ length: WRITERS }, (_, name) => createWriter(name, MINDS, PAUSE_MS));
  return {
    run: async (urls, during) => {
      const until = new AbortController();
      const writing = Promise.all(
        writers.map((writer, n) => writer.write(urls[n % urls.length] ?? '', namespace.ownerKey, until.signal)),
      );
      try {
        const acting = during((count) =>
          untilAnswers(writers, answersTo(writers) + count, ANSWERS_LIMIT_MS, () => namespace.output.slice(-4_000)),
        );
        await Promise.race([acting, writing]);
        await acting;
      } finally {
        until.abort();
        await writing;
      }
      await expectWholeNamespace(
        namespace,
        writers.flatMap(({ acknowledged }) => acknowledged),
      );
    },
  };
};

/** Checks the streams, and that the read models equal those rebuilt into another schema. */
const expectWholeNamespace = async (
  namespaced: Namespace,
  acknowledged: Parameters<typeof expectWholeHistory>[2],
): Promise<void> => {
  const { settings } = namespaced;
  const { ANIMA_NAMESPACE: namespace, EVENTSTORE_URL, DATABASE_URL } = settings;
  const log = createLogger('silent');
  const listOpen = () => Promise.resolve([]);
  await using events = new EventStoreDb({ url: EVENTSTORE_URL, namespace, listOpen });
  await expectWholeHistory(events, MINDS, acknowledged);

  await using liveDatabase = new Postgres({ url: DATABASE_URL, namespace, log });
  await using live = new PostgresReadModels(liveDatabase, systemClock);
  const last = await events.lastPosition();
  for (const projection of distributedProjections) {
    const reached = await live.reachedPosition(projection, last, READ_MODELS_LIMIT_MS);
    expect(reached, `${projection.name}: ${reached ? '' : namespaced.output.slice(-OUTPUT_CHARS)}`).toBe(true);
  }
  expect(await live.parkedCount(distributedProjections)).toBe(0);
  await using otherDatabase = new Postgres({ url: DATABASE_URL, namespace: randomNamespace(), log });
  await using rebuilt = new PostgresReadModels(otherDatabase, systemClock);
  await rebuild({ events, writer: rebuilt, clock: systemClock }, distributedProjections);
  const others = [[openProcesses, OPEN_PROCESSES_PARTITION]] as const;
  const rows = await rowsOf(rebuilt, MINDS, others);
  expect(Object.keys(rows).length).toBeGreaterThan(MINDS);
  expect(await rowsOf(live, MINDS, others)).toEqual(rows);
};
