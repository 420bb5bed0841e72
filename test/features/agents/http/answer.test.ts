import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { agentInput, retryKey, takeInput } from '../../../../src/features/agents/take-input.js';
import { createExpectedRetries } from '../../../../src/features/agents/expected-retries.js';
import { SingleFlight } from '../../../../src/kernel/concurrency/single-flight.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { retryOf, phasesOf } from '../../../../src/features/agents/http/answer.js';
import { fakeCortex } from '../../../support/fake-cortex.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { openMinds, TENANT } from '../../../support/minds.js';
import { followersOf } from '../../../support/signal-followers.js';
import { settle } from '../../../support/settle.js';

const WAIT_MS = 12_000;
const by = { tenant: TENANT, actor: 'key', commandId: 'c1', correlationId: 'c1', causationId: null };
const asked = {
  ...{ stream: npcStream(TENANT, 'mira'), input: 'Well?', context: {}, npcState: {} },
  ...{ by, keyed: false, resumed: false },
};

/** The phases of a turn, and the turn that a retry of the request would get. */
const follow = async (npcState: JsonObject, action: string, store = new MemoryEventStore()) => {
  const clock = new ManualClock();
  const { engine } = fakeCortex(() => Promise.resolve(JSON.stringify({ dialogue: 'Well.', action })));
  const recall = () => Promise.resolve({ memories: [], pending: 0, byWords: null, revision: -1 });
  const minds = await openMinds(store, clock, { agent: { recall, engineOf: () => engine } });
  const retries = createExpectedRetries(clock);
  const deps = {
    ...{ ...minds.deps, engineOf: () => engine, waitMs: WAIT_MS, retries },
    ...{ openings: new Map(), waits: new SingleFlight<never>(), embedder: { id: 'words@1' } },
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
    listening: null,
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
    await using following = await follow({}, 'SPEAK', store);
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
});
