import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { makeCommandId, reservedAt } from '../../../src/kernel/streams/command-id.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { gate } from '../../support/gate.js';
import { ManualClock } from '../../support/manual-clock.js';
import { openMinds, tapeOf, TENANT } from '../../support/minds.js';
import { seededRandom } from '../../support/seeded-random.js';
import { settle } from '../../support/settle.js';
import { eventsOf, note, onBehalf, storeWith, STREAM, texts, textsOf } from '../../support/streams.js';

/** A connection to the store that freezes before its call number `at`, until it is thawed. */
const freezing = (store: EventStore, at: number) => {
  let calls = 0;
  const { opened: frozen, open: thaw } = gate();
  const call = async <T>(run: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls === at) await frozen;
    return run();
  };
  const way = storeWith(store, {
    append: (...asked) => call(() => store.append(...asked)),
    read: (...asked) => call(() => store.read(...asked)),
  });
  return { way, thaw, calls: () => calls };
};

/** Turns of the event loop in which everything runs that is not frozen. */
const TURNS = 8;

describe('A server that freezes while another one executes its command', () => {
  it.each([0, 3])(
    'records nothing of the command afterwards, wherever it froze (events before the command: %i)',
    async (before) => {
      for (let at = 1; at <= 8; at += 1) {
        const store = new MemoryEventStore();
        const clock = new ManualClock();
        const serverOn = (events: EventStore) => ({
          events,
          clock,
          writers: new StreamWriters(events, clock, { shared: true }),
        });
        for (let n = 0; n < before; n += 1) {
          await runCommand(serverOn(store), STREAM, texts, onBehalf(`before ${n}`), () => [note(`before ${n}`)]);
        }
        const commandId = reservedAt(makeCommandId(clock, seededRandom(`frozen ${at}`)), before - 1);
        const { way, thaw } = freezing(store, at);
        const command = { ...onBehalf(commandId), keyed: true };
        const standing = runCommand(serverOn(way), STREAM, texts, command, () => [note('once')]);
        await settle(TURNS);
        const other = await runCommand(serverOn(store), STREAM, texts, { ...command, resumed: true }, () => [
          note('once'),
        ]);
        thaw();
        const late = await standing;
        expect(
          late.events.map(({ id }) => id),
          `frozen at ${at}`,
        ).toEqual(other.events.map(({ id }) => id));
        expect(
          (await textsOf(store)).filter((text) => text === 'once'),
          `frozen at ${at}`,
        ).toHaveLength(1);
      }
    },
  );

  it('records the command once when it repeats the command itself', async () => {
    for (let at = 1; at <= 6; at += 1) {
      const store = new MemoryEventStore();
      const clock = new ManualClock();
      const { way, thaw } = freezing(store, at);
      const server = { events: way, clock, writers: new StreamWriters(way, clock, { shared: true }) };
      const commandId = reservedAt(makeCommandId(clock, seededRandom(`repeated ${at}`)), -1);
      const command = { ...onBehalf(commandId), keyed: true };
      const attempt = (resumed: boolean) =>
        runCommand(server, STREAM, texts, { ...command, resumed }, () => [note('once')]);
      const both = [attempt(false), attempt(true)];
      await settle(TURNS);
      thaw();
      const [first, second] = await Promise.all(both);
      expect(
        second?.events.map(({ id }) => id),
        `frozen at ${at}`,
      ).toEqual(first?.events.map(({ id }) => id));
      expect(await textsOf(store), `frozen at ${at}`).toEqual(['once']);
    }
  });

  it('opens no second turn for the command', async () => {
    let stood = 0;
    for (let at = 1; at <= 12; at += 1) {
      const store = new MemoryEventStore();
      const clock = new ManualClock();
      const { way, thaw, calls } = freezing(store, at);
      const one = await openMinds(store, clock, { shared: true, through: way });
      const other = await openMinds(store, clock, { shared: true });
      const commandId = reservedAt(makeCommandId(clock, seededRandom(`frozen ${at}`)), -1);
      const standing = one.step(tapeOf({ observation: 'Once.' }), null, { commandId, keyed: true });
      standing.catch(() => undefined);
      await settle(TURNS);
      if (calls() >= at) stood += 1;
      // The other server runs the step on its own: at another time, with another id.
      await clock.advance(1);
      const carried = await other.step(tapeOf({ observation: 'Once.' }), null, {
        commandId,
        keyed: true,
        resumed: true,
      });
      thaw();
      const late = await standing.then(
        ({ answer }) => answer.turnId,
        (refusal: unknown) => (refusal as { code: string }).code,
      );
      // A caller that is asked to retry finds the existing turn.
      expect([carried.answer.turnId, 'BUSY'], `frozen at ${at}`).toContain(late);
      const opened = (await eventsOf(store, npcStream(TENANT, 'mira'))).filter(({ type }) => type === 'TurnOpened');
      expect(opened, `frozen at ${at}`).toHaveLength(1);
    }
    expect(stood).toBeGreaterThan(2);
  });
});
