import { expect, it } from 'vitest';

import { findBreak } from '../../src/app/hash-chain.js';
import { rebuild } from '../../src/app/rebuild.js';
import { Projector } from '../../src/app/projector.js';
import { npcStream } from '../../src/domain/shared/stream-names.js';
import type { Json } from '../../src/domain/shared/json.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import type { Projection } from '../../src/ports/read-models.js';
import { type EmbeddedProfile, openEmbedded } from '../../src/profiles/embedded.js';
import { npcs } from '../../projections/npcs.js';
import { projections } from '../../projections/registry.js';
import { turns } from '../../projections/turns.js';
import { apiOf } from '../support/api.js';
import { openEmbeddedServer } from '../support/embedded-server.js';

const ROUNDS = 50;
const WRITERS = 32;
const MINDS = 8;
/** A round is killed after so many answers, another number each time, and fails when they do not come within the time. */
const answersOf = (round: number): number => 8 + ((round * 29) % 120);
const ROUND_LIMIT_MS = 30_000;
const TENANT = 'local';

const actor = { npcId: 'someone', persona: 'Busy.', data: { hp: 10 } };
const results = [
  null,
  { type: 'IdentifyActorResult', actor },
  { type: 'QueryVectorResult', memories: [] },
  { type: 'ExecuteInferenceResult', generatedOutput: '{"dialogue": "Yes.", "stateDelta": {"busy": true}}' },
] as const;

/** What a client was told: the events of this step are in the mind's stream up to this revision. */
type Acknowledged = {
  readonly npcId: string;
  readonly turnId: string;
  readonly step: number;
  readonly revision: number;
};

/** A body that plays turn after turn, and repeats a step for which it got no answer: what a client does when its server dies. */
const createWriter = (name: number) => {
  const acknowledged: Acknowledged[] = [];
  let turn = 0;
  let step = 0;
  let tape: object | null = null;
  const npcId = `mind ${String(name % MINDS)}`;
  return {
    acknowledged,
    write: async (url: string, key: string, until: AbortSignal): Promise<void> => {
      const api = apiOf(url, key);
      while (!until.aborted) {
        const observation = `writer ${String(name)} says line ${String(turn)}`;
        const body = { tape: tape ?? { observation }, lastResult: results[step] };
        const once = { 'idempotency-key': `${String(name)}-${String(turn)}-${String(step)}` };
        const reply = await api.post(`/npcs/${encodeURIComponent(npcId)}/process`, body, once).catch(() => null);
        if (reply === null || reply.status === 503 || reply.status === 409) {
          await new Promise((resolve) => setTimeout(resolve, 5));
          continue;
        }
        if (reply.status !== 200) throw new Error(`${String(reply.status)}: ${reply.text}`);
        const answer = reply.body as { tape: { turnId: string }; instruction: { type: string } };
        const revision = Number(reply.headers.get('anima-revision'));
        acknowledged.push({ npcId, turnId: answer.tape.turnId, step, revision });
        tape = answer.tape;
        step += 1;
        if (answer.instruction.type === 'Finalize') {
          expect(step).toBe(results.length);
          [turn, step, tape] = [turn + 1, 0, null];
        }
      }
    },
  };
};

const read = async (profile: EmbeddedProfile, stream: string): Promise<readonly RecordedEvent[]> => {
  const all: RecordedEvent[] = [];
  for (;;) {
    const { events } = await profile.ports.events.read(stream, {
      direction: 'forwards',
      from: all.length,
      limit: 4096,
    });
    all.push(...events);
    if (events.length < 4096) return all;
  }
};

const rows = async (profile: EmbeddedProfile, streams: readonly string[]): Promise<Record<string, Json>> => {
  const found: Record<string, Json> = {};
  const list = async (projection: Projection, partition: string) => {
    const query = { partition, direction: 'ascending', limit: 1_000_000 } as const;
    for (const { key, row } of await profile.ports.readModels.list(projection, query))
      found[`${projection.name} ${key}`] = row;
  };
  await list(npcs, TENANT);
  for (const stream of streams) await list(turns, stream);
  return found;
};

const eventsOfStep = [
  ['TurnOpened'],
  ['ActorIdentified'],
  ['MemoriesRecalled'],
  ['VerdictReached', 'StateChanged', 'MemoryStored'],
] as const;

it(
  `loses and doubles nothing in ${String(ROUNDS)} kills under the load of ${String(WRITERS)} writers, and rebuilds its read models as they were`,
  async () => {
    await using server = await openEmbeddedServer();
    const writers = Array.from({ length: WRITERS }, (_, name) => createWriter(name));
    const answers = (): number => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      const until = new AbortController();
      const writing = writers.map((writer) => writer.write(server.url, server.ownerKey, until.signal));
      const wanted = answers() + answersOf(round);
      const late = Date.now() + ROUND_LIMIT_MS;
      while (answers() < wanted) {
        if (Date.now() > late) throw new Error(`round ${String(round)} got no answers: ${server.output}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      // The kill comes first: the writers are in the middle of their requests.
      const restarted = server.restart('kill');
      until.abort();
      await Promise.all(writing);
      await restarted;
    }
    const acknowledged = writers.flatMap((writer) => writer.acknowledged);
    await server.restart('kill');
    await server.halt();

    await using profile = await openEmbedded({ dataDir: server.dataDir, secret: null, secretFile: null });
    const streams = Array.from({ length: MINDS }, (_, mind) => npcStream(TENANT, `mind ${String(mind)}`));
    const histories = new Map<string, readonly RecordedEvent[]>();
    for (const stream of streams) histories.set(stream, await read(profile, stream));

    for (const [stream, events] of histories) {
      expect(
        events.map(({ revision }) => revision),
        stream,
      ).toEqual(events.map((_, revision) => revision));
      expect(findBreak(events), stream).toBeNull();
      const seen = events.map(({ type, data }) => JSON.stringify([type, data['turnId'], data['memoryId']]));
      expect(new Set(seen).size, 'no event of a turn stands twice').toBe(seen.length);
      const openings = events.filter(({ type }) => type === 'TurnOpened').map(({ data }) => data['observation']);
      expect(new Set(openings).size, 'no line opened two turns').toBe(openings.length);
    }
    for (const { npcId, turnId, step, revision } of acknowledged) {
      const events = histories.get(npcStream(TENANT, npcId)) ?? [];
      const own = events.filter(({ data }) => data['turnId'] === turnId).map(({ type }) => type);
      expect(own.slice(0, eventsOfStep.slice(0, step + 1).flat().length)).toEqual(
        eventsOfStep.slice(0, step + 1).flat(),
      );
      expect(events.length, 'the acknowledged revision exists').toBeGreaterThan(revision);
    }

    const { events, clock, readModels } = profile.ports;
    const log = {
      error: (details: object, message: string) => expect.unreachable(`${message} ${JSON.stringify(details)}`),
    };
    const projector = new Projector({ events, writer: profile.writer, clock, log }, projections);
    await projector.start();
    const last = await events.lastPosition();
    for (const projection of projections) expect(await readModels.reachedPosition(projection, last, 30_000)).toBe(true);
    await projector[Symbol.asyncDispose]();
    const live = await rows(profile, streams);
    expect(Object.keys(live).length).toBeGreaterThan(MINDS);
    await rebuild({ events, writer: profile.writer, clock }, projections);
    expect(await rows(profile, streams)).toEqual(live);
  },
  15 * 60_000,
);
