import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

import type { Json, JsonObject } from '../../src/kernel/base/json.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { appendNext } from '../support/append-next.js';
import { ManualClock } from '../support/manual-clock.js';
import { MemoryEventStore } from '../support/memory/event-store.js';
import { openMinds, TENANT, tapeOf } from '../support/minds.js';
import { replayAll } from '../support/replays.js';
import { storeOfHistory } from './stored-history.js';

/**
 * Turns, single acts and agents with each preset as it was when presets had grammar 1. Nobody had registered one. The last turn, of `stealth-npc`, is
 * open.
 */
const HISTORY = fileURLToPath(new URL('../fixtures/built-in-presets.ndjson', import.meta.url));
const DECISIONS = 80;

const recorded = async (): Promise<readonly RecordedEvent[]> => (await storeOfHistory(HISTORY)).readAll(0, 1_000);

/** The history with another digest in every record of its rules; null removes it. */
const withDigest = async (digest: string | null): Promise<MemoryEventStore> => {
  const changed = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(changed);
    if (typeof value !== 'object' || value === null) return value;
    const { digest: was, ...others } = value as JsonObject;
    const members = Object.entries(others).map(([name, member]) => [name, changed(member)]);
    const isRef = was !== undefined && 'rulesetId' in value;
    return Object.fromEntries([
      ...members,
      ...(was === undefined || (isRef && digest === null) ? [] : [['digest', isRef ? digest : was]]),
    ]) as JsonObject;
  };
  const store = new MemoryEventStore();
  for (const { stream, revision: _, position: __, ...event } of await recorded())
    await appendNext(store, stream, [{ ...event, data: changed(event.data) as JsonObject }]);
  return store;
};

describe('the history of presets that nobody registered', () => {
  it('gets the same decisions after the presets have changed [5.3g]', async () => {
    const { same, others } = await replayAll(await storeOfHistory(HISTORY));
    expect(others).toEqual([]);
    expect(same).toBeGreaterThan(DECISIONS);
  });

  it('gets them without digests, as the oldest records are [5.3g]', async () => {
    const { same, others } = await replayAll(await withDigest(null));
    expect(others).toEqual([]);
    expect(same).toBeGreaterThan(DECISIONS);
  });

  it('cannot be replayed with a content that this server does not know [5.3g]', async () => {
    const { others } = await replayAll(await withDigest('another'));
    expect(others.length).toBeGreaterThan(DECISIONS / 2);
    expect(others.filter((line) => !/: rules\n/.test(line))).toEqual([]);
  });

  it('can be continued: an open turn keeps its rules [5.3g, 5.2d]', async () => {
    const store = new MemoryEventStore();
    const npcId = 'stealth-npc';
    const events = (await recorded()).filter(({ stream }) => stream === npcStream('local', npcId));
    for (const { stream: _, revision: __, position: ___, ...event } of events)
      await appendNext(store, npcStream(TENANT, npcId), [event]);
    const opened = events.findLast(({ type }) => type === 'TurnOpened');
    const clock = new ManualClock(events.at(-1)?.meta.at);
    await using minds = await openMinds(store, clock);
    const tape = tapeOf({ ...opened?.data, turnId: opened?.data['turnId'] as string });
    const { answer } = await minds.step(
      tape,
      {
        type: 'ExecuteInferenceResult',
        generatedOutput: '{"dialogue": "Yes.", "action": {"type": "MOVE", "target": "cellar"}}',
      },
      { npcId },
    );
    // Today's content has a line for the player instead.
    expect(answer.instruction).toMatchObject({
      type: 'Finalize',
      verdict: { valid: false, dialogue: 'Without cause it does not leave its post.' },
    });
  });
});
