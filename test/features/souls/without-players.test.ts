import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { withPlayerNames } from '../../support/player-names.js';
import { disclose } from '../../../src/features/souls/disclose.js';
import { toldWithoutPlayers } from '../../../src/features/souls/without-players.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import { makeSoul, type SoulDocument, type SoulMemory } from '../../../src/features/souls/domain/document.js';
import { createPlayerIndex, type Player } from '../../../src/features/souls/domain/player-index.js';
import { soulMemory, unsignedSoul } from '../../support/souls.js';
import { turnsDuring } from '../../support/turns.js';
import { runs } from '../../support/long.js';

const events = new MemoryEventStore();
const inTurn = (place: number, turnId: string | null, more: Partial<SoulMemory> = {}): SoulMemory => {
  const memory = soulMemory(place, { metadata: {}, ...more });
  return { ...memory, cause: { ...memory.cause, turnId } };
};
const soulOf = (told: {
  persona: string | null;
  data: JsonObject;
  facts?: JsonObject;
  memories: readonly SoulMemory[];
}): SoulDocument => ({
  ...makeSoul({
    soulId: 's1',
    createdAt: '2026-11-21T10:00:00.999Z',
    npcId: 'mira',
    ruleset: null,
    provenance: unsignedSoul().provenance,
    ...told,
  }),
  trainingProof: '',
  signature: '',
});
const named = (turns: Readonly<Record<string, JsonObject>>) => {
  const index = createPlayerIndex();
  const players = Object.entries(turns).map(([id, context]): [string, readonly Player[]] => [id, index.note(context)]);
  return { index, turns: new Map(players) };
};

describe('an export without players', () => {
  it('has no memory of somebody whose name could not be read [12.2i]', async () => {
    const memories = [
      inTurn(0, null, { text: 'The silver is under the well.', player: { id: '', from: 'body' } }),
      inTurn(1, null, { text: 'The well is dry.' }),
    ];
    const left = await toldWithoutPlayers({ persona: null, data: {}, facts: {}, memories }, named({}));
    expect(left.memories.map(({ text }) => text)).toEqual(['The well is dry.']);
  });

  const told = {
    persona: 'Mira keeps the inn.',
    data: {
      mood: 'loyal',
      inventory: ['key', 'a letter from Ann'],
      relationships: { Bo: 0.5 },
      guests: { Ann: { room: 3 }, strangers: 2 },
      player: { id: 'p1' },
      note: 'BO pays late',
    },
    facts: { weather: 'rain', quests: ['Bo owes two coins', 'the well'], player: 'Ann', guild: { Ann: 1, all: 9 } },
    memories: [
      inTurn(0, 't1', { text: 'Somebody asked for a room.' }),
      inTurn(1, 't2', { text: 'The rain began.' }),
      inTurn(2, null, { text: 'Ann stole the ruby necklace.' }),
      inTurn(3, null, { text: 'A guest left.', metadata: { playerId: 'p9' } }),
      inTurn(4, 'from elsewhere', { text: 'The gate is old.' }),
      inTurn(5, null, { text: 'The well is dry.', metadata: { depth: 4 } }),
    ],
  };
  const turns = { t1: { playerId: 'p1', playerName: 'Ann' }, t2: { weather: 'rain' } };

  it('drops memories that name or mention a player, or come from a turn with a player or an unknown turn [8.10c, 8.10g]', async () => {
    const without = await toldWithoutPlayers(told, named(turns));
    expect(without).toEqual({
      persona: 'Mira keeps the inn.',
      data: { mood: 'loyal', inventory: ['key'], relationships: {}, guests: { strangers: 2 } },
      facts: { weather: 'rain', quests: ['the well'], guild: { all: 9 } },
      memories: [told.memories[1], told.memories[5]],
    });
    expect((await toldWithoutPlayers({ ...told, persona: 'Mira loves Ann.' }, named(turns))).persona).toBeNull();
  });

  it('drops every memory that arrived with a soul, and those whose type names a player [8.10i, 8.10k]', async () => {
    const memories = [inTurn(3, null, { text: 'Rain.' }), inTurn(9, null, { text: 'Snow.' })];
    expect((await toldWithoutPlayers({ ...told, memories }, named({}), 5)).memories).toEqual([memories[1]]);
    const secret = [inTurn(9, null, { text: 'Snow.', type: 'annexSecret' }), inTurn(9, null, { type: 'AnnSecret' })];
    expect((await toldWithoutPlayers({ ...told, memories: secret }, named(turns))).memories).toEqual([secret[0]]);
  });

  it('drops nothing if no player was named', async () => {
    const plain = {
      ...told,
      data: { hp: 3, guests: ['a stranger'] },
      facts: { war: true },
      memories: told.memories.slice(1, 2),
    };
    expect(await toldWithoutPlayers(plain, named({ t2: {} }))).toEqual(plain);
  });

  it('yields after each large memory', async () => {
    const metadata = { names: Array.from({ length: 10_000 }, (_, n) => `n${n}`) };
    const memories = Array.from({ length: 20 }, (_, n) => inTurn(n, null, { metadata }));
    const turns = await turnsDuring(() => toldWithoutPlayers({ ...told, memories }, named({})));
    expect(turns).toBeGreaterThanOrEqual(memories.length);
  });

  it('discloses no player [8.10g]', async () => {
    const name = fc.constantFrom(
      'Ann',
      'Bo',
      'p1',
      'mood',
      'Ann of the Hill',
      '\u5b89\u5a1c',
      'extra',
      'inventory',
      '4711',
    );
    const text = fc
      .array(fc.oneof(name, fc.constantFrom('the', 'rain', 'hill', 'of', '.')))
      .map((words) => words.join(' '));
    const value = fc.letrec<{ node: JsonObject | string | number }>((tie) => ({
      node: fc.oneof(
        text,
        fc.integer(),
        fc.dictionary(fc.oneof(name, fc.constantFrom('a', 'relationships', 'inventory')), tie('node')),
      ),
    })).node;
    const data = fc.dictionary(
      fc.oneof(name, fc.constantFrom('player', 'relationships', 'inventory', 'quests', 'mood')),
      fc.oneof(value, fc.array(value)),
    );
    const memory = fc.record({ text, metadata: fc.dictionary(fc.constantFrom('player', 'page', 'Ann'), value) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(name),
        data,
        data,
        fc.array(memory),
        text,
        async (players, dataIn, facts, memories, persona) => {
          const without = await toldWithoutPlayers(
            {
              persona,
              data: dataIn,
              facts,
              memories: memories.map((more, place) =>
                inTurn(place, null, { ...more, metadata: more.metadata, text: more.text || '-' }),
              ),
            },
            named({ t1: { players } }),
          );
          const index = createPlayerIndex();
          index.note({ players });
          index.note(dataIn);
          index.note(facts);
          // With all names of the entire mind, as the route has them.
          const { players: found } = await disclose(
            withPlayerNames(events),
            soulOf({ ...without, data: { ...without.data } }),
            1,
            false,
          );
          expect(found).toEqual([]);
          for (const { text: kept } of without.memories) expect(index.spokenOf(kept)).toEqual([]);
          expect(index.spokenOf(without.persona ?? '')).toEqual([]);
        },
      ),
      { numRuns: runs(30, 300) },
    );
  });
});

describe('the disclosure of a soul', () => {
  it('names the players in its own metadata and state, with their locations [8.10a, 8.10c, 8.10d]', async () => {
    const soul = soulOf({
      persona: 'Mira fears Ann.',
      data: { relationships: { Ann: 0.5 }, mood: 'loyal', quests: { 'for/Ann': 1 } },
      memories: [
        inTurn(0, null, { text: 'The gate is old.' }),
        inTurn(1, 't1', { text: 'ann left.', metadata: { playerId: 'p9' } }),
      ],
    });
    const disclosed = await disclose(withPlayerNames(events), soul, 999, false);
    expect(disclosed).toMatchObject({
      soulId: 's1',
      npcId: 'mira',
      bytes: 999,
      without: [],
      turns: 'unread',
      persona: { bytes: 15, players: ['Ann'] },
      players: [
        { names: ['Ann'], memories: 1, state: 2 },
        { names: ['p9'], memories: 1, state: 0 },
      ],
      memories: {
        count: 2,
        about: 1,
        items: [
          {
            memoryId: soul.memories[1]?.id,
            eventId: soul.memories[1]?.cause.eventId,
            turnId: 't1',
            players: ['Ann', 'p9'],
            by: ['text', 'metadata'],
          },
        ],
      },
      state: {
        items: [
          { pointer: '/extra/quests/for~1Ann', players: ['Ann'] },
          { pointer: '/relationships/Ann', players: ['Ann'] },
        ],
      },
    });
    expect(disclosed).not.toHaveProperty('more');
    expect(await disclose(withPlayerNames(events), soul, 999, false)).toEqual(disclosed);
  });
});
