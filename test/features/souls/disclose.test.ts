import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { withPlayerNames } from '../../support/player-names.js';
import { disclose, LISTED, namedPlayers } from '../../../src/features/souls/disclose.js';
import type { SoulDocument, SoulInputs } from '../../../src/features/souls/domain/document.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { turnsDuring } from '../../support/turns.js';
import { soulMemories, soulMemory, unsignedSoul } from '../../support/souls.js';
import { itLong } from '../../support/long.js';

const disclosed = (more: Partial<SoulInputs>) => {
  const soul: SoulDocument = { ...unsignedSoul(more), trainingProof: 'root', signature: 'a.b.c' };
  return disclose(withPlayerNames(new MemoryEventStore()), soul, 1, false);
};
const LARGEST = 16 * 1024 * 1024;

describe('a disclosure', () => {
  it('reads at most 200,000 events of a mind, and an export without players is refused beyond that [8.10e, 8.10h]', async () => {
    const { provenance } = unsignedSoul();
    const events = new MemoryEventStore();
    const turnsAt = async (revision: number) => {
      const soul = unsignedSoul({ provenance: { ...provenance, revision } });
      return (await disclose(withPlayerNames(events), { ...soul, trainingProof: 'root', signature: 'a.b.c' }, 1, true))
        .turns;
    };
    expect([await turnsAt(199_999), await turnsAt(200_000)]).toEqual(['read', 'unread']);
    await namedPlayers(events, 'npc-studio.mira', 199_999);
    await expect(namedPlayers(events, 'npc-studio.mira', 200_000)).rejects.toMatchObject({ code: 'SOUL_TOO_LARGE' });
  });

  it('reads the events of a mind up to the revision of the soul [8.10e]', async () => {
    const events = new MemoryEventStore();
    const named = (turnId: string, player: string) => ({
      type: 'TurnOpened',
      data: { turnId, context: { player }, npcState: { guest: { playerId: `${player}-7` } } },
    });
    for (const turnId of ['t1', 't2']) {
      await appendNext(events, 'npc-studio.mira', [event(turnId, named(turnId, turnId === 't1' ? 'Ann' : 'Bo'))]);
    }
    const { provenance } = unsignedSoul();
    const memories = [soulMemory(0, { text: 'Ann left.', metadata: {} }), soulMemory(1, { text: 'Bo.', metadata: {} })];
    const namesAt = async (revision: number, isOwn: boolean) => {
      const from = { ...provenance, tenant: 'studio', npcId: 'mira', revision };
      const soul = { ...unsignedSoul({ memories, data: {}, persona: '', provenance: from }), trainingProof: 'root' };
      return (
        await disclose(
          { ...withPlayerNames(new MemoryEventStore()), events },
          { ...soul, signature: 'a.b.c' },
          1,
          isOwn,
        )
      ).players.map(({ names }) => names[0]);
    };
    expect(await namesAt(0, true)).toEqual(['Ann', 'Ann-7']);
    expect(await namesAt(1, true)).toEqual(['Ann', 'Bo', 'Ann-7']);
    expect(await namesAt(1, false)).toEqual([]);
  });

  it('names the players in the facts, by pointers into them [8.10a, 8.10d]', async () => {
    const facts = { war: true, champion: { player: 'Ann' }, guild: { members: ['Ann', 'rain'] } };
    const found = await disclosed({ memories: [], data: {}, facts });
    expect(found.players).toEqual([{ names: ['Ann'], memories: 0, state: 0, facts: 2 }]);
    expect(found.facts).toEqual({
      bytes: JSON.stringify(facts).length,
      items: [
        { pointer: '/champion', players: ['Ann'] },
        { pointer: '/guild/members/0', players: ['Ann'] },
      ],
    });
    expect((await disclosed({ memories: [], data: {} })).facts).toEqual({ bytes: 2, items: [] });
  });

  itLong('lists a bounded number of each kind, and counts all [8.10f]', async () => {
    expect(LISTED).toEqual({ players: 1_000, memories: 10_000, places: 1_000 });
    const player = { player: 'Anna' };
    const memories = Array.from({ length: LISTED.memories + 1 }, (_, n) => soulMemory(n, { metadata: player }));
    const data = { seats: Array.from({ length: LISTED.places + 1 }, () => player) };
    const found = await disclosed({ memories, data });
    expect(found).toMatchObject({ more: true, memories: { count: memories.length, about: memories.length } });
    expect([found.memories.items.length, found.state.items.length]).toEqual([LISTED.memories, LISTED.places]);
    expect(found.players).toMatchObject([{ names: ['Anna'], memories: memories.length, state: LISTED.places + 1 }]);
    expect(await disclosed({ memories: memories.slice(1), data: null })).not.toHaveProperty('more');
    const crowd = (count: number) => ({ players: Array.from({ length: count }, (_, n) => `player ${String(n)}`) });
    const crowded = await disclosed({ memories: [], data: { crowd: crowd(LISTED.players + 1) } });
    expect([crowded.players.length, crowded.more]).toEqual([LISTED.players, true]);
    expect(await disclosed({ memories: [], data: { crowd: crowd(LISTED.players) } })).not.toHaveProperty('more');
  });

  itLong(
    'is no larger than the largest soul, however many players with long names a text mentions [8.10f]',
    async () => {
      const players = Array.from({ length: 2_000 }, (_, n) => ({ id: `${n} `.padEnd(256, 'x'), name: `n${n}` }));
      const text = players
        .slice(0, 1_300)
        .map(({ name }) => name)
        .join(' ');
      const memories = Array.from({ length: 300 }, (_, n) =>
        soulMemory(n, { text, metadata: n === 0 ? { players } : {} }),
      );
      const data = { signs: Array.from({ length: 300 }, () => text) };
      const found = await disclosed({ memories, data });
      expect(JSON.stringify(found).length).toBeLessThan(LARGEST);
      // Of names and pointers each list has at most 2 MiB; the rest of an item is a few hundred bytes.
      const named = (items: readonly { readonly players: readonly string[] }[]): number =>
        items.flatMap(({ players: names }) => names).reduce((chars, name) => chars + name.length, 0);
      for (const { items } of [found.memories, found.state]) expect(named(items)).toBeLessThanOrEqual(2 * 1024 * 1024);
      expect(found).toMatchObject({ more: true, memories: { about: 300 } });
      expect(found.memories.items.length).toBeGreaterThan(1);
      expect(found.state.items.length).toBeGreaterThan(1);
      // A few players may have many names.
      const called = Array.from({ length: 12 }, (_, player) =>
        Array.from({ length: 900 }, (__, n) => ({ playerId: `p${player}`, playerName: `${n} `.padEnd(256, 'y') })),
      );
      const many = await disclosed({ memories: [], data: { called } });
      expect(many.players.length).toBeGreaterThan(1);
      expect(many.players.flatMap(({ names }) => names).join('').length).toBeLessThanOrEqual(2 * 1024 * 1024);
      expect(many.more).toBe(true);
    },
  );

  it('yields twice for each large part, and between many small ones', async () => {
    const metadata = { names: Array.from({ length: 10_000 }, (_, n) => `n${n}`) };
    const memories = Array.from({ length: 20 }, (_, n) => soulMemory(n, { metadata }));
    expect(await turnsDuring(() => disclosed({ memories }))).toBeGreaterThanOrEqual(2 * memories.length);
    const small = await turnsDuring(() => disclosed({ memories: soulMemories(2_000) }));
    expect(small).toBeGreaterThan(50);
    expect(small).toBeLessThan(200);
  });
});
