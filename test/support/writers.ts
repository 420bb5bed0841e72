import { expect } from 'vitest';

import { findBreak } from './find-break.js';
import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';
import type { Projection, ReadModels } from '../../src/ports/read-models.js';
import { npcs } from '../../projections/npcs.js';
import { turns } from '../../projections/turns.js';
import { apiOf } from './api.js';

/** The tenant of the owner key. */
const TENANT = 'local';
const PAGE = 4096;
const ALL = 1_000_000;

/** What a body of this mind sends with the steps of one turn, in order. */
export const resultsOf = (npcId: string): readonly ((JsonObject & { readonly type: string }) | null)[] => [
  null,
  { type: 'IdentifyActorResult', actor: { npcId, persona: 'Busy.', data: { hp: 10 } } },
  { type: 'QueryVectorResult', memories: [] },
  { type: 'ExecuteInferenceResult', generatedOutput: '{"dialogue": "Yes.", "stateDelta": {"busy": true}}' },
];

/** The events that those steps record. */
export const eventsOfStep = [
  ['TurnOpened'],
  ['ActorIdentified'],
  ['MemoriesRecalled'],
  ['VerdictReached', 'StateChanged', 'MemoryStored'],
] as const;

/** What a client was told: the mind's stream has this step's events, up to this revision. */
export type Acknowledged = {
  readonly npcId: string;
  readonly turnId: string;
  readonly step: number;
  readonly revision: number;
};

export type Writer = {
  readonly acknowledged: readonly Acknowledged[];
  /** Plays until `until` aborts and the last request is answered or lost. A later call continues from there. */
  write(url: string, key: string, until: AbortSignal): Promise<void>;
};

const mindOf = (name: number, minds: number): string => `mind ${String(name % minds)}`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A body that plays turn after turn. It repeats a step that got no response with the same Idempotency-Key, as a client does when its server dies, and
 * retries a refused one after its `Retry-After`. Any other refusal ends it.
 * @param minds how many minds all writers share
 */
export const createWriter = (name: number, minds: number, pauseMs = 5): Writer => {
  const acknowledged: Acknowledged[] = [];
  let turn = 0;
  let step = 0;
  let tape: object | null = null;
  const npcId = mindOf(name, minds);
  const results = resultsOf(npcId);
  return {
    acknowledged,
    write: async (url, key, until) => {
      const api = apiOf(url, key);
      while (!until.aborted) {
        const observation = `writer ${String(name)} says line ${String(turn)}`;
        const body = { tape: tape ?? { observation }, lastResult: results[step] };
        const once = { 'idempotency-key': `${String(name)}-${String(turn)}-${String(step)}` };
        const reply = await api.post(`/npcs/${encodeURIComponent(npcId)}/process`, body, once).catch(() => null);
        if (reply === null || reply.status === 503 || reply.status === 409) {
          const seconds = Number(reply?.headers.get('retry-after') ?? 0);
          await pause(Math.max(pauseMs, seconds * 1_000));
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

/** The number of answered steps so far. */
export const answersTo = (writers: readonly Writer[]): number =>
  writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);

/** Resolves once this many steps are answered. @throws Error after `limitMs`, with the result of `explain` */
export const untilAnswers = async (
  writers: readonly Writer[],
  wanted: number,
  limitMs: number,
  explain: () => string,
): Promise<void> => {
  const late = Date.now() + limitMs;
  while (answersTo(writers) < wanted) {
    if (Date.now() > late)
      throw new Error(`${String(answersTo(writers))} of ${String(wanted)} answers came: ${explain()}`);
    await pause(1);
  }
};

/** An entire stream. */
export const readStream = async (
  events: Pick<EventStore, 'read'>,
  stream: string,
): Promise<readonly RecordedEvent[]> => {
  const all: RecordedEvent[] = [];
  for (;;) {
    const page = await events.read(stream, { direction: 'forwards', from: all.length, limit: PAGE });
    all.push(...page.events);
    if (all.length > page.lastRevision) return all;
  }
};

/** The streams of the minds that the writers share. */
export const streamsOf = (minds: number): readonly string[] =>
  Array.from({ length: minds }, (_, mind) => npcStream(TENANT, mindOf(mind, minds)));

/**
 * Checks what must be true of the streams after any failure: no gap, intact hash chains, nothing of a turn twice, no turn opened twice, and every
 * acknowledged event present.
 */
export const expectWholeHistory = async (
  events: Pick<EventStore, 'read'>,
  minds: number,
  acknowledged: readonly Acknowledged[],
): Promise<void> => {
  const histories = new Map<string, readonly RecordedEvent[]>();
  for (const stream of streamsOf(minds)) histories.set(stream, await readStream(events, stream));
  for (const [stream, history] of histories) {
    expect(
      history.map(({ revision }) => revision),
      stream,
    ).toEqual(history.map((_, revision) => revision));
    expect(findBreak(history), stream).toBeNull();
    const seen = history.map(({ type, data }) => JSON.stringify([type, data['turnId'], data['memoryId']]));
    expect(new Set(seen).size, 'no event of a turn stands twice').toBe(seen.length);
    const openings = history.filter(({ type }) => type === 'TurnOpened').map(({ data }) => data['observation']);
    expect(new Set(openings).size, 'no line opened two turns').toBe(openings.length);
  }
  for (const { npcId, turnId, step, revision } of acknowledged) {
    const history = histories.get(npcStream(TENANT, npcId)) ?? [];
    const own = history.filter(({ data }) => data['turnId'] === turnId).map(({ type }) => type);
    const due = eventsOfStep.slice(0, step + 1).flat();
    expect(own.slice(0, due.length)).toEqual(due);
    expect(history.length, 'the acknowledged revision exists').toBeGreaterThan(revision);
  }
};

/** Every row of the writers' minds in the read models, by projection and key. */
export const rowsOf = async (
  readModels: Pick<ReadModels, 'list'>,
  minds: number,
  others: readonly (readonly [Projection, string])[] = [],
): Promise<Readonly<Record<string, Json>>> => {
  const found: Record<string, Json> = {};
  const lists = [[npcs, TENANT] as const, ...streamsOf(minds).map((stream) => [turns, stream] as const), ...others];
  for (const [projection, partition] of lists) {
    const query = { partition, direction: 'ascending', limit: ALL } as const;
    for (const { key, row } of (await readModels.list(projection, query)).rows)
      found[`${projection.name} ${key}`] = row;
  }
  return found;
};
