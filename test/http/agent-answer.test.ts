import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../src/adapters/memory/event-store.js';
import { type AgentInput, debtName, takeInput } from '../../src/app/agents/take-input.js';
import { createUnanswered } from '../../src/app/agents/unanswered.js';
import { SharedWork } from '../../src/app/pacing/shared-work.js';
import type { JsonObject } from '../../src/domain/shared/json.js';
import { npcStream } from '../../src/domain/shared/stream-names.js';
import { debtOf, phasesOf } from '../../src/http/agent-answer.js';
import { fakeCortex } from '../support/fake-cortex.js';
import { ManualClock } from '../support/manual-clock.js';
import { openMinds, TENANT } from '../support/minds.js';

const WAIT_MS = 12_000;
const by = { tenant: TENANT, actor: 'key', commandId: 'c1', correlationId: 'c1', causationId: null };
const asked: AgentInput = {
  ...{ stream: npcStream(TENANT, 'mira'), input: 'Well?', context: {}, npcState: {} },
  ...{ by, keyed: false, resumed: false },
};

/** The phases of a turn, and what is owed to a request for it. */
const follow = async (npcState: JsonObject, action: string) => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  const { engine } = fakeCortex(() => Promise.resolve(JSON.stringify({ dialogue: 'Well.', action })));
  const recall = () => Promise.resolve({ memories: [], pending: 0, revision: -1 });
  const minds = await openMinds(store, clock, { agent: { recall, engineOf: () => engine } });
  const unanswered = createUnanswered(clock);
  const deps = {
    ...{ ...minds.deps, engineOf: () => engine, waitMs: WAIT_MS, unanswered },
    ...{ openings: new Map(), waits: new SharedWork<never>() },
  };
  const said = { ...asked, npcState };
  const untilMs = clock.monotonicMs() + WAIT_MS;
  const turnId = await takeInput(deps, said, untilMs);
  const followed = { asked: said, turnId, requestId: 'r1', untilMs, noteWritten: () => undefined, cortex: engine };
  const phases = phasesOf(deps, { ...followed, debt: debtOf(deps, said, turnId) }, new AbortController().signal);
  return {
    phases,
    turnId,
    owed: () => unanswered.take(debtName(said)),
    [Symbol.asyncDispose]: () => minds[Symbol.asyncDispose](),
  };
};

describe('the phases of an agent’s turn', () => {
  it.each([
    ['a verdict', {}, 'SPEAK', 'event: verdict'],
    ['a refusal', { status: 'asleep' }, 'MOVE', 'event: error'],
  ])(
    'leave nothing owed once %s was taken, and the turn when its client left before',
    async (_, npcState, action, last) => {
      for (const isTaken of [true, false]) {
        await using following = await follow(npcState, action);
        const { phases, turnId } = following;
        let chunk = '';
        while (!chunk.startsWith(last)) chunk = (await phases.next()).value as string;
        if (isTaken) expect(await phases.next()).toMatchObject({ done: true });
        else await phases.return(undefined);
        expect(following.owed()).toBe(isTaken ? null : turnId);
        expect(following.owed()).toBeNull();
      }
    },
  );
});
