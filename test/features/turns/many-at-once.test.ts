import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { actDirective } from '../../../src/features/turns/act.js';
import { findBreak } from '../../support/find-break.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { generated, identified, openMinds, recalled, tapeOf } from '../../support/minds.js';
import { seededRandom } from '../../support/seeded-random.js';
import { eventsOf, note, onBehalf, storeWith, STREAM, texts, textsOf } from '../../support/streams.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';

/** A store across a network: every call takes some iterations of the event loop, drawn from a seed, before it arrives and before its result returns. */
const farStore = (store: EventStore, seed: string): EventStore => {
  const random = seededRandom(seed);
  const travel = async (): Promise<void> => {
    for (let turns = (random.bytes(1)[0] ?? 0) % 4; turns >= 0; turns -= 1) {
      await yieldToEventLoop();
    }
  };
  const far = async <T>(call: () => Promise<T>): Promise<T> => {
    await travel();
    const answer = await call();
    await travel();
    return answer;
  };
  return storeWith(store, {
    append: (...asked) => far(() => store.append(...asked)),
    read: (...asked) => far(() => store.read(...asked)),
  });
};

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

describe('many concurrent requests on one mind', () => {
  it.each([1, 2])('are all executed once if they are commands (servers: %i)', async (count) => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    const servers = range(count).map((n) => {
      const far = farStore(store, `server ${n}`);
      return { events: far, clock, writers: new StreamWriters(far, clock, { shared: true }) };
    });
    const words = range(40).map((n) => `word ${n}`);
    await Promise.all(
      words.map((word, n) => {
        const deps = servers[n % count] ?? { events: store, clock, writers: new StreamWriters(store, clock) };
        return runCommand(deps, STREAM, texts, onBehalf(word), (state) => (state.includes(word) ? [] : [note(word)]));
      }),
    );
    expect([...(await textsOf(store))].sort()).toEqual([...words].sort());
    expect(findBreak(await eventsOf(store))).toBeNull();
  });

  it.each([1, 2])('are all served when bodies play turns beside callers of acts (servers: %i)', async (count) => {
    const store = new MemoryEventStore();
    const clock = new ManualClock();
    const servers = await Promise.all(
      range(count).map((n) => openMinds(store, clock, { shared: true, through: farStore(store, `minds ${n}`) })),
    );
    const serverOf = (n: number) => servers[n % count] ?? Promise.reject(new Error('no server'));
    const body = async (n: number): Promise<string> => {
      const { step } = await serverOf(n);
      const said = tapeOf({ observation: `Body ${n} comes in.` });
      const command = (round: number) => ({ commandId: `body ${n} round ${round}` });
      const { answer } = await step(said, null, command(0));
      const tape = { ...said, turnId: answer.turnId };
      await step(tape, identified, command(1));
      await step(tape, recalled, command(2));
      return (await step(tape, generated, command(3))).answer.instruction.type;
    };
    const caller = async (n: number): Promise<string> => {
      const { deps } = await serverOf(n);
      const ports = { events: deps.events, clock };
      const issuer = () => ({ kid: 'test-key', iss: 'http://test' });
      const acts = { ports, writers: deps.writers, rulesets: openRulesets(deps.writers, deps.events), issuer };
      const by = onBehalf(`caller ${n}`);
      const act = { npcId: 'mira', observation: `Caller ${n}`, npcState: {}, context: {}, by };
      return (await actDirective(acts, act)).event.observation;
    };
    const served = await Promise.all([...range(8).map(body), ...range(16).map(caller)]);
    expect(served).toEqual([...range(8).map(() => 'Finalize'), ...range(16).map((n) => `Caller ${n}`)]);
    const events = await eventsOf(store, npcStream('studio', 'mira'));
    expect(findBreak(events)).toBeNull();
    const counted = (type: string): number => events.filter((event) => event.type === type).length;
    expect([counted('TurnOpened'), counted('VerdictReached'), counted('DirectiveGiven')]).toEqual([8, 8, 16]);
  });
});
