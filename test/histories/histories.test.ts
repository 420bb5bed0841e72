import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { replayAll } from '../support/replays.js';
import { FIXTURES, storeOfHistory } from './stored-history.js';

const histories = (await readdir(FIXTURES)).filter((name) => name.endsWith('.ndjson'));

/** The minimum number of decisions in the history of a release: an empty one would always pass. */
const DECISIONS = 200;

describe('the history of a released version', () => {
  it.each(histories)('gets the same decisions from today’s program: %s', async (name) => {
    const { same, others } = await replayAll(await storeOfHistory(join(FIXTURES, name)));
    // A decision with a different result needs a new number of the logic (docs/adr/0012), or an upcaster (docs/adr/0004).
    expect(others).toEqual([]);
    expect(same).toBeGreaterThan(DECISIONS);
  });

  it.each(histories)('contains every kind of decision: %s', async (name) => {
    const events = await (await storeOfHistory(join(FIXTURES, name))).readAll(0, 100_000);
    const types = new Set(events.map(({ type }) => type));
    const decisions = ['TurnOpened', 'ActorIdentified', 'MemoriesRecalled', 'VerdictReached', 'VerdictRefused'];
    expect([...types]).toEqual(
      expect.arrayContaining([...decisions, 'DirectiveGiven', 'ContextBuilt', 'BridgeChecked', 'StateChanged']),
    );
  });
});
