import { describe, expect, it } from 'vitest';

import { nearestDeadlines, shardOf } from '../../activities/nearest-deadlines.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { OpenProcess } from '../../src/ports/event-store.js';
import { processKey } from '../../src/ports/process-runtime.js';
import { DEADLINES_CACHED } from '../../src/kernel/processes/process-limits.js';

const START_MS = Date.parse('2026-01-01T00:00:00.000Z');
const openProcess = (id: string, dueMs: number | null, more: Partial<OpenProcess> = {}): OpenProcess => ({
  name: 'turn',
  id,
  stream: npcStream('studio', id),
  due: dueMs === null ? null : new Date(START_MS + dueMs).toISOString(),
  ...more,
});
const indexOf = (...open: readonly OpenProcess[]) => ({ openProcesses: () => Promise.resolve(open) });
const whole = { index: 0, count: 1, processes: ['turn'] };

describe('The nearest deadlines of a shard', () => {
  it('are returned in the order in which they fall due, with everything needed to try them', async () => {
    const index = indexOf(openProcess('late', 3), openProcess('early', 1), openProcess('between', 2));
    const found = await nearestDeadlines(index, whole);
    expect(found.map(({ ref }) => ref.id)).toEqual(['early', 'between', 'late']);
    expect(found[0]).toEqual({
      ref: { process: 'turn', id: 'early', stream: npcStream('studio', 'early') },
      dueMs: START_MS + 1,
    });
  });

  it('exclude processes without a deadline and processes that run elsewhere', async () => {
    const index = indexOf(openProcess('waits', null), openProcess('race', 1, { name: 'race' }), openProcess('mine', 2));
    expect((await nearestDeadlines(index, whole)).map(({ ref }) => ref.id)).toEqual(['mine']);
  });

  it('belong to one shard each, and together cover all processes', async () => {
    const open = Array.from({ length: 50 }, (_, at) => openProcess(`p${String(at)}`, at));
    const shards = await Promise.all(
      [0, 1, 2].map((index) => nearestDeadlines(indexOf(...open), { ...whole, index, count: 3 })),
    );
    for (const [index, found] of shards.entries()) {
      expect(found.length).toBeGreaterThan(0);
      for (const { ref } of found) expect(shardOf(ref, 3)).toBe(index);
    }
    const ids = shards.flat().map(({ ref }) => ref.id);
    expect(ids.toSorted()).toEqual(open.map(({ id }) => id).toSorted());
  });

  it('are the earliest ones, up to the number that a workflow caches', async () => {
    const open = Array.from({ length: DEADLINES_CACHED + 5 }, (_, at) => openProcess(String(at), at)).toReversed();
    const found = await nearestDeadlines(indexOf(...open), whole);
    expect(found).toHaveLength(DEADLINES_CACHED);
    expect(found.at(-1)?.dueMs).toBe(START_MS + DEADLINES_CACHED - 1);
  });

  it('exclude the failing processes that the caller names', async () => {
    const index = indexOf(openProcess('failing', 1), openProcess('next', 2));
    const failing = processKey({ process: 'turn', id: 'failing', stream: npcStream('studio', 'failing') });
    expect((await nearestDeadlines(index, whole, [failing])).map(({ ref }) => ref.id)).toEqual(['next']);
  });

  it('fail when the index fails', async () => {
    const away = { openProcesses: () => Promise.reject(new Error('the index is away')) };
    await expect(nearestDeadlines(away, whole)).rejects.toThrow('the index is away');
  });
});
