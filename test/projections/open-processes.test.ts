import { describe, expect, it } from 'vitest';

import { OPEN_PROCESSES_PARTITION, openProcesses } from '../../projections/open-processes.js';
import { listOpenProcesses } from '../../src/adapters/eventstore/open-processes.js';
import { MemoryEventStore } from '../support/memory/event-store.js';
import { applyEvents } from '../../src/kernel/read-models/apply-events.js';
import { feedOf } from '../../src/kernel/read-models/feed.js';
import type { EventToAppend } from '../../src/ports/event-store.js';
import { event, processEvent } from '../support/events.js';
import { ManualClock } from '../support/manual-clock.js';
import { appendNext } from '../support/append-next.js';
import { MemoryReadModels } from '../support/memory/read-models.js';

const AT = '2026-01-01T00:00:00.000Z';
const mark = (id: string, open: boolean, due: string | null = null) => ({ name: 'turn', id, open, due });

/** The list of the read model after these appends, and the list of a store that keeps the index itself. */
const listedAfter = async (appends: readonly (readonly [string, readonly EventToAppend[]])[]) => {
  const events = new MemoryEventStore();
  for (const [stream, appended] of appends) await appendNext(events, stream, appended);
  const readModels = new MemoryReadModels(new ManualClock());
  const build = await readModels.open(openProcesses);
  await applyEvents(readModels, feedOf(openProcesses, build), await events.readAll(0, 4096), AT);
  await readModels.swapIn(build);
  const model = { projection: openProcesses, partition: OPEN_PROCESSES_PARTITION };
  return { listed: await listOpenProcesses(readModels, events, model), kept: await events.openProcesses() };
};

const byId = (left: { id: string; stream: string }, right: { id: string; stream: string }): number =>
  `${left.stream} ${left.id}`.localeCompare(`${right.stream} ${right.id}`);

describe('the open processes', () => {
  it('are those whose last mark is open, whatever the type of the event', async () => {
    const { listed, kept } = await listedAfter([
      ['a', [processEvent('1', mark('t1', true, AT)), processEvent('2', mark('t2', true))]],
      ['b', [event('3', { type: 'Other', process: mark('t1', true) }), event('unmarked')]],
      ['a', [processEvent('4', mark('t1', false)), event('5', { type: 'Later', process: mark('t2', true, AT) })]],
    ]);
    expect(listed).toEqual([
      { name: 'turn', id: 't2', stream: 'a', due: AT },
      { name: 'turn', id: 't1', stream: 'b', due: null },
    ]);
    expect([...listed].sort(byId)).toEqual([...kept].sort(byId));
  });

  it('are all listed, even on more than one page', async () => {
    const many = Array.from({ length: 1_203 }, (_, index) => processEvent(`p${index}`, mark(`t${index}`, true)));
    const { listed, kept } = await listedAfter(
      [0, 1, 2].map((part) => ['s', many.slice(part * 401, part * 401 + 401)]),
    );
    expect(listed).toHaveLength(1_203);
    expect([...listed].sort(byId)).toEqual([...kept].sort(byId));
  });
});
