import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { agentInput, retryKey, takeInput } from '../../../../src/features/agents/take-input.js';
import { createExpectedRetries } from '../../../../src/features/agents/expected-retries.js';
import { SingleFlight } from '../../../../src/kernel/concurrency/single-flight.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import type { Listening } from '../../../../src/features/agents/listening.js';
import { sentencesOf } from '../../../../src/features/agents/sentences.js';
import { createReading } from '../../../../src/features/agents/speech.js';
import { retryOf, phasesOf, shownError } from '../../../../src/features/agents/http/answer.js';
import { fakeCortex } from '../../../support/fake-cortex.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { openMinds, TENANT } from '../../../support/minds.js';
import { followersOf } from '../../../support/signal-followers.js';
import { gate } from '../../../support/gate.js';
import { settle } from '../../../support/settle.js';

const WAIT_MS = 12_000;
const by = { tenant: TENANT, actor: 'key', commandId: 'c1', correlationId: 'c1', causationId: null };
const asked = {
  ...{ stream: npcStream(TENANT, 'mira'), input: 'Well?', context: {}, npcState: {} },
  ...{ by, keyed: false, resumed: false },
};

/** The phases of a turn, and the turn that a retry of the request would get. */
const follow = async (
  npcState: JsonObject,
  action: string,
  {
    store = new MemoryEventStore(),
    answer = Promise.resolve('Well.'),
    listening = null,
    isPlayer = false,
  }: { store?: MemoryEventStore; answer?: Promise<string>; listening?: Listening | null; isPlayer?: boolean } = {},
) => {
  const clock = new ManualClock();
  const { engine } = fakeCortex(async () => JSON.stringify({ dialogue: await answer, action }));
  const recall = () => Promise.resolve({ memories: [], embedder: 'words@1', pending: 0, byWords: null, revision: -1 });
  const minds = await openMinds(store, clock, { agent: { recall, engineOf: () => engine } });
  const retries = createExpectedRetries(clock);
  const deps = {
    ...{ ...minds.deps, engineOf: () => engine, waitMs: WAIT_MS, retries },
    ...{ openings: new Map(), waits: new SingleFlight<never>(), embedder: { id: 'words@1' }, sentences: sentencesOf },
  };
  const said = await agentInput({ ...asked, npcState });
  const untilMs = clock.monotonicMs() + WAIT_MS;
  const turnId = await takeInput(deps, said, untilMs);
  const followed = {
    asked: said,
    turnId,
    requestId: 'r1',
    untilMs,
    noteWritten: () => undefined,
    cortex: engine,
    listening,
    isPlayer,
  };
  const left = new AbortController().signal;
  const phases = phasesOf(deps, { ...followed, retry: retryOf(deps, said, turnId) }, left);
  return {
    ...{ phases, left },
    turnId,
    clock,
    owed: () => retries.take(retryKey(said)),
    [Symbol.asyncDispose]: () => minds[Symbol.asyncDispose](),
  };
};

describe('what a player gets to know of a refusal', () => {
  it('is what the player hears, and not why [12.4j]', async () => {
    const shown = async (isPlayer: boolean) => {
      await using turn = await follow({ hp: 0, status: 'asleep' }, 'MOVE', { isPlayer });
      let all = '';
      for await (const text of turn.phases) all += text;
      const data = /event: error\ndata: (?<data>.*)/.exec(all)?.groups?.['data'] ?? '';
      return (JSON.parse(data) as { error: { code: string; message: string; details: JsonObject } }).error;
    };
    const [told, kept] = [await shown(false), await shown(true)];
    expect(kept.code).toBe(told.code);
    expect(Object.keys(told.details).length).toBeGreaterThan(0);
    expect([kept.message, kept.details]).toEqual(['The NPC does not do that.', { dialogue: 'Mmmh…' }]);
  });

  it('has nothing of the engine [12.4j]', () => {
    const down = new Rejection('CORTEX_UNAVAILABLE', {
      details: { cortexId: 'api:secret', reason: 'ECONNREFUSED 10.0.0.7', turnId: 't1' },
      retryAfter: 3,
    });
    expect(shownError(down, false)).toBe(down);
    const { code, details, retryAfter } = shownError(down, true);
    expect({ code, details, retryAfter }).toEqual({
      code: 'CORTEX_UNAVAILABLE',
      details: { turnId: 't1' },
      retryAfter: 3,
    });
  });
});

describe('the phases of an agent’s turn', () => {
  it.each([
    ['a verdict', {}, 'SPEAK', 'event: verdict'],
    ['a refusal', { status: 'asleep' }, 'MOVE', 'event: error'],
  ])(
    'expect no retry after %s was delivered, and one when the client left before',
    async (_, npcState, action, last) => {
      for (const isTaken of [true, false]) {
        await using following = await follow(npcState, action);
        const { phases, turnId, left } = following;
        let chunk = '';
        while (!chunk.startsWith(last)) chunk = (await phases.next()).value as string;
        expect(followersOf(left)).toBeGreaterThan(0);
        if (isTaken) expect(await phases.next()).toMatchObject({ done: true });
        else await phases.return(undefined);
        expect(followersOf(left)).toBe(0);
        expect(following.owed()).toBe(isTaken ? null : turnId);
        expect(following.owed()).toBeNull();
      }
    },
  );

  it('end in time, and expect a retry, when the store does not answer', async () => {
    const store = new MemoryEventStore();
    await using following = await follow({}, 'SPEAK', { store });
    const { phases, turnId, clock } = following;
    let chunk = '';
    while (!chunk.startsWith('event: thinking')) chunk = (await phases.next()).value as string;
    const read = store.read.bind(store);
    store.read = (stream, range) =>
      range.direction === 'backwards' ? new Promise<never>(() => undefined) : read(stream, range);
    let last: string | null = null;
    void phases.next().then(({ value }) => (last = value as string));
    await settle(20);
    await clock.advance(WAIT_MS - 1);
    expect(last).toBeNull();
    await clock.advance(1);
    expect(last).toMatch(/^event: error\n.*"STORE_UNAVAILABLE"/);
    expect(following.owed()).toBe(turnId);
  });

  it('have every sentence in its order, however slowly they are read [7.4a]', async () => {
    const { opened, open } = gate();
    let hear: Parameters<Listening['begin']>[1] = () => undefined;
    const listening: Listening = {
      begin: (_, heard) => {
        hear = heard;
      },
      stop: () => undefined,
    };
    const answer = opened.then(() => 'One. Two. Three. Four.');
    await using following = await follow({}, 'SPEAK', { answer, listening });
    const { phases, turnId } = following;
    const read = createReading(turnId);
    const chunks: string[] = [];
    const next = async () => {
      const { value } = await phases.next();
      if (typeof value !== 'string') throw new Error(`No verdict after ${chunks.join('')}`);
      chunks.push(value);
    };
    while (!chunks.at(-1)?.startsWith('event: thinking')) await next();
    hear(read('{"dialogue":"One. Tw'));
    await next();
    for (const more of ['Two. Thr', 'Two. Three. Fo']) {
      hear(read(`{"dialogue":"One. ${more}`));
      await settle(5);
    }
    open();
    await settle(50);
    while (!chunks.at(-1)?.startsWith('event: verdict')) await next();
    const sentences = [...chunks.join('').matchAll(/^event: dialogue\ndata: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as object,
    );
    expect(sentences).toMatchObject(['One. ', 'Two. ', 'Three. ', 'Four.'].map((text, index) => ({ index, text })));
    expect(chunks.join('')).not.toContain('dialogue.retract');
  });
});
