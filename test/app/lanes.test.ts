import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../src/adapters/memory/event-store.js';
import { Lanes } from '../../src/app/lanes.js';
import { ManualClock } from '../support/manual-clock.js';
import { heldStore, note, onBehalf, texts } from '../support/streams.js';

const ids = { scope: 'p', timeMs: 0, sequence: 0 };

describe('lanes', () => {
  it('keep as many as they may, and let the longest unused one go', async () => {
    const lanes = new Lanes(new MemoryEventStore(), new ManualClock(), { kept: 2 });
    const [a, b] = [await lanes.open('a', texts), await lanes.open('b', texts)];
    expect(await lanes.open('a', texts)).toBe(a);
    const c = await lanes.open('c', texts);
    expect(await lanes.open('a', texts)).toBe(a);
    expect(await lanes.open('c', texts)).toBe(c);
    expect(await lanes.open('b', texts)).not.toBe(b);
  });

  it('keep a busy one, however long it was not asked for', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const lanes = new Lanes(store, new ManualClock(), { kept: 2 });
    const busy = await lanes.open('busy', texts);
    const appended = busy.append(busy.place([note('a')], onBehalf('x'), ids));
    const idle = await lanes.open('idle', texts);
    await lanes.open('other', texts);
    expect(await lanes.open('busy', texts)).toBe(busy);
    release();
    await appended;
    expect(await lanes.open('idle', texts)).not.toBe(idle);
  });

  it('are one per stream also for those who ask at once', async () => {
    const lanes = new Lanes(new MemoryEventStore(), new ManualClock());
    const [one, other] = await Promise.all([lanes.open('a', texts), lanes.open('a', texts)]);
    expect(one).toBe(other);
  });
});
