import { beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { revisionOf } from '../../../src/features/npcs/find-mind.js';
import { arrive, type Arrival, arrivalContext } from '../../../src/features/souls/arrive.js';
import { chainOf } from '../../../src/features/souls/custody-chain.js';
import { claimSoul, letGo, ownerOf, takeCustody } from '../../../src/features/souls/take-custody.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { archiveNpc, registerNpc, reportFacts } from '../../../src/features/npcs/domain/decide.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { jcs, type Json } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { SoulDocument } from '../../../src/features/souls/domain/document.js';
import { ManualClock } from '../../support/manual-clock.js';
import { soulMemories, soulMemory, unsignedSoul } from '../../support/souls.js';

const documentOf = (memories = soulMemories(600)): SoulDocument => ({
  ...unsignedSoul({ memories }),
  trainingProof: 'the root',
  signature: 'none',
});
const arrivalOf = (document: SoulDocument, importId = 'i1', npcId = document.npcId): Arrival => ({
  ...{ tenant: 'studio', importId, txId: 'tx', receivedAt: '2026-01-02T00:00:00.000Z' },
  soul: {
    ...{ soulId: document.id, digest: 'd', root: 'the root', kid: 'k', signer: 'unknown', npcId, copy: false },
    memories: document.memories.length,
    bytes: 1,
  },
});
const never = new AbortController().signal;

let deps: { readonly events: MemoryEventStore; readonly clock: ManualClock; readonly writers: StreamWriters };
/** A server over the same store. */
const anotherServer = (): typeof deps => {
  const { events, clock } = deps;
  const writers: StreamWriters = new StreamWriters(events, clock, {
    shared: true,
    claim: claimSoul(() => ({ events, clock, writers })),
  });
  return { events, clock, writers };
};
const again = (): void => {
  deps = anotherServer();
};
const stateOf = async (npcId: string) => (await deps.writers.current(npcStream('studio', npcId), mindFold)).state;
/** A request of another client. */
const by = { tenant: 'studio', actor: 'key', commandId: 'c1', correlationId: 'r1', causationId: null };

beforeEach(() => {
  const clock = new ManualClock();
  const events = new MemoryEventStore();
  deps = { events, clock, writers: new StreamWriters(events, clock, { shared: true }) };
  again();
});

describe('an arriving soul', () => {
  it('brings the time of the game of its memories [13.3b]', async () => {
    const document = documentOf([soulMemory(1, { gameTime: '0412-06-01T20:00:00Z' }), soulMemory(2)]);
    const recorded: Json[] = [];
    const append = deps.events.append.bind(deps.events);
    deps.events.append = (stream, expected, events) => {
      recorded.push(...events.map(({ data }) => data));
      return append(stream, expected, events);
    };
    await arrive(deps, arrivalOf(document), document, never);
    expect(recorded[1]).toMatchObject({ gameTime: '0412-06-01T20:00:00Z' });
    expect(recorded[2]).not.toHaveProperty('gameTime');
  });

  it('is written in several appends of bounded size, and exists with the last one [8.4n]', async () => {
    const large = soulMemory(601, { metadata: { notes: 'x'.repeat(780_000) } });
    const document = documentOf([...soulMemories(600), large, soulMemory(602, { metadata: {} })]);
    const sizes: number[] = [];
    const append = deps.events.append.bind(deps.events);
    deps.events.append = (stream, expected, events) => {
      sizes.push(events.reduce((bytes, event) => bytes + jcs(event.data as Json).length, 0));
      return append(stream, expected, events);
    };
    const revision = await arrive(deps, arrivalOf(document), document, never);
    expect(revision).toBe(603);
    expect(Math.max(...sizes)).toBeLessThan(1_000_000);
    expect(sizes.length).toBeGreaterThan(3);
    const { memories, ...mind } = await stateOf(document.npcId);
    expect(mind).toMatchObject({
      persona: document.persona,
      data: { hp: 10 },
      origin: { stored: 602, arrivedAt: 603 },
    });
    expect(memories.count).toBe(602);
    const { chain, copy } = await chainOf(deps.events, npcStream('studio', document.npcId), mind.origin);
    expect([copy, chain.map(({ soulId }) => soulId)]).toEqual([false, ['s1', document.id]]);
    expect(chain[1]).toMatchObject({ txId: 'tx', kid: 'k', importedAt: '2026-01-02T00:00:00.000Z' });
  });

  it('resumes after an attempt that died after any append, and duplicates nothing [8.4n]', async () => {
    const document = documentOf();
    for (let allowed = 1; ; allowed += 1) {
      deps = { ...deps, events: new MemoryEventStore() };
      again();
      const own = deps.events.append.bind(deps.events);
      let left = allowed;
      deps.events.append = (...args) => {
        left -= 1;
        return left < 0 ? Promise.reject(new Error('killed')) : own(...args);
      };
      const died = await arrive(deps, arrivalOf(document), document, never).then(
        () => false,
        () => true,
      );
      left = Infinity;
      again();
      expect(await arrive(deps, arrivalOf(document), document, never)).toBe(601);
      expect(await arrive(deps, arrivalOf(document), document, never)).toBe(601);
      expect((await stateOf(document.npcId)).memories.count).toBe(600);
      if (!died) break;
      expect(allowed).toBeLessThan(10);
    }
  });

  it('blocks other writers until it has arrived, and is not found by readers before [8.4n]', async () => {
    const document = documentOf();
    const stop = new AbortController();
    const append = deps.events.append.bind(deps.events);
    deps.events.append = (...args) => {
      stop.abort(new Error('stopped'));
      return append(...args);
    };
    await expect(arrive(deps, arrivalOf(document), document, stop.signal)).rejects.toThrow('stopped');
    deps.events.append = append;
    const stream = npcStream('studio', document.npcId);
    const write = () => runCommand(deps, stream, mindFold, by, (mind) => registerNpc(mind, { persona: 'Mallory' }));
    await expect(write()).rejects.toMatchObject({ code: 'SOUL_ARRIVING', retryAfter: 1 });
    expect(await revisionOf(deps.events, 'studio', document.npcId)).toBe(-1);
    // This program has the old mind in its cache; another one ends the import.
    const here = deps.writers;
    again();
    await arrive(deps, arrivalOf(document), document, never);
    deps = { ...deps, writers: here };
    await write();
    expect(await stateOf(document.npcId)).toMatchObject({ persona: 'Mallory' });
  });

  it('is refused for an existing mind, and for one that another import is making [8.4i, 8.4l]', async () => {
    const document = documentOf();
    await arrive(deps, arrivalOf(document), document, never);
    await expect(arrive(deps, arrivalOf(document, 'i2'), document, never)).rejects.toMatchObject({
      code: 'SOUL_ALREADY_LIVE',
    });
    await runCommand(deps, npcStream('studio', 'bo'), mindFold, by, (mind) => registerNpc(mind, {}));
    await expect(arrive(deps, arrivalOf(document, 'i3', 'bo'), document, never)).rejects.toMatchObject({
      code: 'SOUL_ALREADY_LIVE',
    });
    expect((await stateOf('bo')).revision).toBe(0);
  });
});

describe('the custody of a soul', () => {
  const owner = (importId: string, npcId = 'mira') => ({ tenant: 'studio', npcId, importId });
  const context = (importId: string) => arrivalContext(arrivalOf(documentOf([]), importId));
  const take = (importId: string, npcId?: string) =>
    takeCustody(deps, 'the root', owner(importId, npcId), context(importId));

  it('is taken once, even by a repeat, and by another server only after its release [8.4k]', async () => {
    expect(await ownerOf(deps, 'the root')).toBeNull();
    expect([await take('i1'), await take('i1'), await take('i2')]).toEqual([true, true, false]);
    expect(await ownerOf(deps, 'the root')).toMatchObject({ importId: 'i1' });
    await letGo(deps, 'the root', owner('i2'), context('i2'));
    expect(await take('i2')).toBe(false);
    await letGo(deps, 'the root', owner('i1'), context('i1'));
    expect(await take('i2')).toBe(true);
  });

  it('ends when its mind is archived [8.4k]', async () => {
    await take('i1');
    const document = documentOf([]);
    await arrive(deps, arrivalOf(document, 'i1', 'mira'), document, never);
    expect(await take('i2', 'bo')).toBe(false);
    await runCommand(deps, npcStream('studio', 'mira'), mindFold, by, archiveNpc);
    expect(await ownerOf(deps, 'the root')).toBeNull();
    expect(await take('i2', 'bo')).toBe(true);
  });

  it('is taken by one of many concurrent attempts', async () => {
    const ids = Array.from({ length: 8 }, (_, at) => `i${at}`);
    const taken = await Promise.all(
      ids.map((id) =>
        takeCustody(
          { ...deps, writers: new StreamWriters(deps.events, deps.clock, { shared: true }) },
          'the root',
          owner(id, `mind ${id}`),
          context(id),
        ),
      ),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  describe('of an archived mind', () => {
    const stream = npcStream('studio', 'mira');
    const revive = (of = deps) => runCommand(of, stream, mindFold, by, (mind) => registerNpc(mind, {}));
    const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'done',
        (error: unknown) => (error instanceof Rejection ? error.code : error),
      );
    const arrives = async (importId: string, npcId: string, copy = false) => {
      const arrival = arrivalOf(documentOf([]), importId, npcId);
      await arrive(deps, { ...arrival, soul: { ...arrival.soul, copy } }, documentOf([]), never);
    };
    const archive = (npcId: string) => runCommand(deps, npcStream('studio', npcId), mindFold, by, archiveNpc);
    beforeEach(async () => {
      await take('i1');
      await arrives('i1', 'mira');
      await archive('mira');
    });

    it('is taken again before an act revives it, and not while the soul lives in another [8.4x]', async () => {
      await revive();
      expect(await take('i2', 'bo')).toBe(false);
      await archive('mira');
      expect(await take('i2', 'bo')).toBe(true);
      expect(await codeOf(revive())).toBe('SOUL_ALREADY_LIVE');
      await arrives('i2', 'bo');
      expect(await codeOf(revive())).toBe('SOUL_ALREADY_LIVE');
      expect((await stateOf('mira')).archived).toBe(true);
      await archive('bo');
      await revive();
      expect((await stateOf('mira')).archived).toBe(false);
      expect(
        await codeOf(runCommand(deps, npcStream('studio', 'bo'), mindFold, by, (mind) => registerNpc(mind, {}))),
      ).toBe('SOUL_ALREADY_LIVE');
    });

    it('is no matter for what is not an act, nor for a copy [8.4x]', async () => {
      await take('i2', 'bo');
      const report = () => runCommand(deps, stream, mindFold, by, (mind) => reportFacts(mind, { night: true }));
      expect((await report()).state).toMatchObject({ archived: true, facts: { night: true } });
      await arrives('i3', 'copy', true);
      await archive('copy');
      await runCommand(deps, npcStream('studio', 'copy'), mindFold, by, (mind) => registerNpc(mind, {}));
      expect((await stateOf('copy')).archived).toBe(false);
    });

    it('stays with one mind, whenever a revival and an import meet [8.4x]', async () => {
      const seen = new Set<string>();
      for (let turn = 0; turn < 24; turn += 1) {
        const [here, there] = [anotherServer(), anotherServer()];
        const delay = async (times: number) => {
          for (let left = times; left > 0; left -= 1) await Promise.resolve();
        };
        const other = owner(`other ${turn}`, `mind ${turn}`);
        const [revived, taken] = await Promise.all([
          delay(turn).then(() => codeOf(revive(here))),
          delay(24 - turn).then(() => takeCustody(there, 'the root', other, context(`other ${turn}`))),
        ]);
        const isLive = !(await stateOf('mira')).archived;
        expect([revived === 'done', taken]).toEqual([isLive, !isLive]);
        seen.add(String(revived));
        if (isLive) await archive('mira');
        else await letGo(deps, 'the root', other, context(`other ${turn}`));
      }
      expect([...seen].sort()).toEqual(['SOUL_ALREADY_LIVE', 'done']);
    });

    it('is not held by a revival that was never recorded, once the mind goes on [8.4x]', async () => {
      const append = deps.events.append.bind(deps.events);
      deps.events.append = (name, ...rest) =>
        name === stream ? Promise.reject(new Error('killed')) : append(name, ...rest);
      await expect(revive()).rejects.toThrow('killed');
      deps.events.append = append;
      expect(await take('i2', 'bo')).toBe(false);
      await runCommand(deps, stream, mindFold, by, (mind) => reportFacts(mind, { night: true }));
      expect(await take('i2', 'bo')).toBe(true);
    });
  });
});
