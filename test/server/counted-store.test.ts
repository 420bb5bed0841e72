import { describe, expect, it } from 'vitest';

import { countedStore } from '../../src/server/counted-store.js';
import { ghostMindStream, logStream, npcStream } from '../../src/kernel/base/stream-names.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import { event } from '../support/events.js';
import { MemoryEventStore } from '../support/memory/event-store.js';

describe('a counted event store', () => {
  const opened = () => {
    const counts: string[] = [];
    const store = countedStore(new MemoryEventStore(), { count: (...what) => void counts.push(what.join(' ')) });
    return { store, counts };
  };
  let made = 0;
  const typed = (type: string, data: JsonObject = {}) => ({ ...event(`e${String((made += 1))}`), type, data });

  it('counts how turns end, and what rules refuse', async () => {
    const { store, counts } = opened();
    const ends = [
      typed('VerdictReached', { verdict: { valid: true } }),
      typed('VerdictRefused', { verdict: { valid: false, code: 'RULE_REFUSED' } }),
      typed('VerdictRefused', { verdict: { valid: false, code: 'ITEM_MISSING' } }),
      typed('BridgeChecked', { code: 'RULE_REFUSED' }),
      typed('TurnFailed'),
      typed('TurnExpired'),
      typed('MemoryStored'),
    ];
    await store.append(npcStream('local', 'mira'), 'no_stream', ends);
    expect(counts).toEqual([
      ...['verdicts valid', 'verdicts refused', 'ruleRefusals', 'verdicts refused', 'ruleRefusals'],
      ...['verdicts failed', 'verdicts expired'],
    ]);
  });

  it('counts what was recorded, once, and nothing of the minds of ghosts', async () => {
    const { store, counts } = opened();
    const once = [typed('TurnFailed')];
    await store.append(npcStream('local', 'mira'), 'no_stream', once);
    expect(await store.append(npcStream('local', 'mira'), 'no_stream', once)).toMatchObject({ repeated: true });
    await store.append(npcStream('local', 'mira'), 7, [typed('TurnFailed')]);
    await store.append(ghostMindStream('local', 'g1'), 'no_stream', [typed('TurnFailed')]);
    expect(counts).toEqual(['verdicts failed']);
  });

  it('counts checkpoints that could not be published', async () => {
    const { store, counts } = opened();
    const sent = [null, 'away'].map((failed) => typed('CheckpointsHandedOn', { failed }));
    await store.append(logStream('local'), 'no_stream', sent);
    expect(counts).toEqual(['handOnFailures']);
  });
});
