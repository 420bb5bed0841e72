import { expect, it } from 'vitest';

import { rebuild } from '../../src/kernel/read-models/rebuild.js';
import { Projector } from '../../src/kernel/read-models/projector.js';
import { createLogger } from '../../src/config/logger.js';
import { openEmbedded } from '../../src/profiles/embedded.js';
import { projections } from '../../projections/registry.js';
import { openEmbeddedServer } from '../support/embedded-server.js';
import { answersTo, createWriter, expectWholeHistory, rowsOf, untilAnswers } from '../support/writers.js';

const ROUNDS = 30;
const WRITERS = 32;
const MINDS = 8;
/** A round ends with a kill after this many responses, another number each time, and fails when they do not arrive in time. */
const answersOf = (round: number): number => 8 + ((round * 29) % 120);
const ROUND_LIMIT_MS = 30_000;

it(
  `loses and duplicates nothing in ${String(ROUNDS)} kills under the load of ${String(WRITERS)} writers, and rebuilds equal read models`,
  async () => {
    await using server = await openEmbeddedServer();
    const writers = Array.from({ length: WRITERS }, (_, name) => createWriter(name, MINDS));
    for (let round = 0; round < ROUNDS; round += 1) {
      const until = new AbortController();
      const writing = writers.map((writer) => writer.write(server.url, server.ownerKey, until.signal));
      const wanted = answersTo(writers) + answersOf(round);
      await untilAnswers(writers, wanted, ROUND_LIMIT_MS, () => `round ${String(round)}, ${server.output}`);
      // The kill comes first: the writers are in the middle of their requests.
      const restarted = server.restart('kill');
      until.abort();
      await Promise.all(writing);
      await restarted;
    }
    await server.restart('kill');
    await server.halt();

    await using profile = await openEmbedded(
      {
        dataDir: server.dataDir,
        secret: null,
        secretFile: null,
        embedder: { kind: 'builtin' },
        embeddingCacheBytes: 1_000_000,
        embeddingShare: 0.5,
        readWaitMs: 2000,
        keptAnswerBytes: 1_000_000,
      },
      createLogger('silent'),
    );
    const { events, clock, readModels } = profile.ports;
    await expectWholeHistory(
      events,
      MINDS,
      writers.flatMap(({ acknowledged }) => acknowledged),
    );

    const log = {
      error: (details: object, message: string) => expect.unreachable(`${message} ${JSON.stringify(details)}`),
    };
    const projector = new Projector({ events, writer: profile.writer, clock, log }, projections);
    await projector.start();
    const last = await events.lastPosition();
    for (const projection of projections) expect(await readModels.reachedPosition(projection, last, 30_000)).toBe(true);
    await projector[Symbol.asyncDispose]();
    const live = await rowsOf(readModels, MINDS);
    expect(Object.keys(live).length).toBeGreaterThan(MINDS);
    await rebuild({ events, writer: profile.writer, clock }, projections);
    expect(await rowsOf(readModels, MINDS)).toEqual(live);
  },
  15 * 60_000,
);
