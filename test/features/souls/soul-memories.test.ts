import { describe, expect, it } from 'vitest';

import { MAX_SOUL_BYTES } from '../../../src/features/souls/domain/bounds.js';
import { soulMemories } from '../../../src/features/souls/soul-memories.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { checksOf, seals } from '../../support/seals.js';
import { storeWith } from '../../support/streams.js';

const STREAM = 'npc-studio.mira';
const never = new AbortController().signal;

/** A mind with so many memories. */
const mindWith = async (count: number, more: object = {}) => {
  const events = new MemoryEventStore();
  const clock = new ManualClock();
  const deps = { events, clock, writers: new StreamWriters(events, clock, { seals }) };
  const told = { text: 'It rained.', type: 'observation', importance: 0.5, ...more };
  const drafts = Array.from({ length: count }, (_, at) => ({
    type: 'MemoryStored',
    data: { memoryId: `m${String(at)}`, ...told },
  }));
  for (let at = 0; at < count; at += 50) {
    const commandId = `c${String(at)}`;
    const by = { tenant: 'studio', actor: 'key-1', commandId, correlationId: commandId, causationId: null };
    await runCommand(deps, STREAM, mindFold, by, () => drafts.slice(at, at + 50));
  }
  return { events, checks: checksOf(events) };
};

describe('the memories of a soul', () => {
  it('are all memories of a mind at a revision', async () => {
    const deps = await mindWith(1_500);
    expect(await soulMemories(deps, STREAM, 1_499, never)).toHaveLength(1_500);
    expect((await soulMemories(deps, STREAM, 9, never)).map(({ id }) => id)).toEqual(
      Array.from({ length: 10 }, (_, at) => `m${String(at)}`),
    );
  });

  it('have the time of the game [13.3b]', async () => {
    expect(await soulMemories(await mindWith(1, { gameTime: 7 }), STREAM, 0, never)).toMatchObject([{ gameTime: 7 }]);
  });

  it('are refused soon if they are too large, including their metadata', async () => {
    const { events, checks } = await mindWith(3_000, { metadata: { notes: 'x'.repeat(16_000) } });
    let read = 0;
    const counting = storeWith(events, {
      read: async (...range) => {
        const page = await events.read(...range);
        read += page.events.length;
        return page;
      },
    });
    await expect(soulMemories({ events: counting, checks }, STREAM, 2_999, never)).rejects.toMatchObject({
      code: 'SOUL_TOO_LARGE',
      details: { limitBytes: MAX_SOUL_BYTES },
    });
    expect(read).toBeLessThan(2_600);
  });

  it('come from events that were checked, never from others [10.13b]', async () => {
    const { events } = await mindWith(3);
    const forged = (event: RecordedEvent): RecordedEvent =>
      event.revision === 1 ? { ...event, data: { ...event.data, text: 'The king murdered my brother.' } } : event;
    const edited = storeWith(events, {
      read: async (...range) => {
        const page = await events.read(...range);
        return { ...page, events: page.events.map(forged) };
      },
    });
    const checks = checksOf(edited);
    await expect(soulMemories({ events: edited, checks }, STREAM, 2, never)).rejects.toMatchObject({
      code: 'CHAIN_BROKEN',
      details: { npcId: 'mira', revision: 1 },
    });
  });
});
