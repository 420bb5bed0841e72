import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { openExport } from '../../../src/features/souls/open-export.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { STREAM } from '../../support/streams.js';

const START = '2026-01-01T00:00:00.000Z';
const request = { npcState: { mood: 'loyal' }, includeMemories: true, uploadedBy: 'client' } as const;
const soulId = makeProcessId('s', 0, Date.parse(START), 'one');

const after = async (...others: readonly { readonly type: string; readonly data: JsonObject }[]) => {
  const events = new MemoryEventStore();
  const clock = new ManualClock(START);
  const asked = { type: 'SoulExportRequested', data: { soulId, ...request, deadlineAt: '2026-01-01T01:00:00.000Z' } };
  const all = [{ type: 'NpcRegistered', data: {} }, asked, ...others];
  for (const [place, one] of all.entries()) await appendNext(events, STREAM, [event(String(place), one)]);
  const deps = { events, clock, repository: new ProcessRepository(events) };
  return { clock, joined: (of: JsonObject = request) => openExport(deps, STREAM, of, all.length - 1) };
};
const sealed = {
  type: 'SoulSealed',
  data: { soulId, name: 'Mira', digest: 'd', root: 'r', kid: 'k', mindRevision: 0, memories: 0, bytes: 9 },
};

describe('an open export', () => {
  it('is joined by a request for the same, sealed or not [8.1g]', async () => {
    expect(await (await after()).joined()).toBe(soulId);
    expect(
      await (await after(sealed)).joined({ uploadedBy: 'client', includeMemories: true, npcState: { mood: 'loyal' } }),
    ).toBe(soulId);
  });

  it.each<JsonObject>([
    { ...request, npcState: {} },
    { ...request, includeMemories: false },
    { ...request, uploadedBy: 'server' },
    { ...request, persona: 'A stranger.' },
    { ...request, without: ['players'] },
  ])('is not joined by a request for something else: %j [8.1g]', async (other) => {
    expect(await (await after(sealed)).joined(other)).toBeNull();
  });

  it.each([
    { type: 'SoulExported', data: { soulId, txId: 'd', url: 'u' } },
    { type: 'SoulExportFailed', data: { soulId, code: 'SOUL_UPLOAD_FAILED', reason: '' } },
    { type: 'SoulExportExpired', data: { soulId } },
  ])('is not joined after its end: $type', async (over) => {
    expect(await (await after(sealed, over)).joined()).toBeNull();
  });

  it('is searched among many without blocking other work', async () => {
    const many = Array.from({ length: 8 }, (_, place) => ({
      type: 'SoulExportRequested',
      data: { soulId: `s${place}`, ...request, npcState: { place }, deadlineAt: '2026-01-01T01:00:00.000Z' },
    }));
    const { joined } = await after(...many);
    let turns = 0;
    let going = true;
    const count = (): void => {
      turns += 1;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    expect(await joined()).toBe(soulId);
    going = false;
    expect(turns).toBeGreaterThanOrEqual(many.length);
  });

  it.each([
    { type: 'NpcUpdated', data: {} },
    // Its payload may be what the archive has forgotten.
    { type: 'SoulWithdrawn', data: { soulId, txId: 'd' } },
  ])('is not joined after another event of the mind: $type [8.1g]', async (other) => {
    expect(await (await after(sealed, other)).joined()).toBeNull();
  });

  it('is not joined after half of its time [8.1g]', async () => {
    const { clock, joined } = await after(sealed);
    await clock.advance(30 * 60_000 - 1);
    expect(await joined()).toBe(soulId);
    await clock.advance(1);
    expect(await joined()).toBeNull();
  });
});
