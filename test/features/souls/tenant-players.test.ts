import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { createPlayerIndex, tracesIn, tracesOf } from '../../../src/features/souls/domain/player-index.js';
import { MOST_CHARS_IN_ONE, MOST_IN_ONE } from '../../../projections/player-names.js';
import { noteTenantPlayers } from '../../../src/features/souls/tenant-players.js';
import type { Json, JsonObject } from '../../../src/kernel/base/json.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { appendNext } from '../../support/append-next.js';
import { event } from '../../support/events.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';
import { withPlayerNames } from '../../support/player-names.js';

/** A character that stands for 18. */
const LONG_WHEN_FOLDED = String.fromCodePoint(0xfdfa);

let events: MemoryEventStore;
let count = 0;
beforeEach(() => {
  events = new MemoryEventStore();
});
const told = (tenant: string, npcId: string, facts: JsonObject) =>
  appendNext(events, npcStream(tenant, npcId), [event(`e${count++}`, { type: 'FactsReported', data: { facts } })]);
const indexFor = async (values: readonly Json[], deps = withPlayerNames(events)) => {
  const index = createPlayerIndex();
  await noteTenantPlayers(deps, 'studio', values, index);
  return index;
};
const namesIn = async (text: string) => (await indexFor([text])).spokenOf(text).map(({ names }) => names);

describe('the players of a tenant', () => {
  it('are found in the texts of a mind to which they were never named, with all their names [8.10l]', async () => {
    await told('studio', 'bo', { player: { id: 'p-4711', name: 'Ann Lee' } });
    await told('studio', 'cy', { players: ['勇者太郎', 'Bo'] });
    expect(await namesIn('They say that ann lee stole the ring.')).toEqual([['p-4711', 'Ann Lee']]);
    expect(await namesIn('secretOfP4711')).toEqual([['p-4711', 'Ann Lee']]);
    expect(await namesIn('p_4711 knows')).toEqual([['p-4711', 'Ann Lee']]);
    expect(await namesIn('昨日勇者太郎が来た')).toEqual([['勇者太郎']]);
    expect(await namesIn('Nobody came.')).toEqual([]);
  });

  it('are those of this tenant, and not everybody in a relationship [8.10l]', async () => {
    await told('other', 'bo', { player: 'Ann' });
    await told('studio', 'bo', { relationships: { Bert: 0.5 } });
    expect(await namesIn('Ann and Bert.')).toEqual([]);
  });

  it('are looked up by what the values say: members, numbers and texts at any depth [8.10l]', async () => {
    for (let at = 0; at < 1_200; at += 1) await told('studio', `npc ${at % 3}`, { playerId: `guest${at + 1_000}` });
    await told('studio', 'bo', { playerId: 4_711 });
    const index = await indexFor([{ list: [{ guest1999: 4_711 }, 'guest2000'] }]);
    const found = ['guest1999', '4711', 'guest2000'].map((text) => index.spokenOf(text).length);
    expect(found).toEqual([1, 1, 1]);
    expect(index.spokenOf('guest1001')).toEqual([]);
  });

  it('are not named by what a player sent [8.10l, 12.4i]', async () => {
    const data = { turnId: 't0_a', playerContext: { players: ['dragon'] }, player: { id: 'p-ann', from: 'token' } };
    await appendNext(events, npcStream('studio', 'bo'), [event(`e${count++}`, { type: 'TurnOpened', data })]);
    expect(await namesIn('The dragon told p-ann.')).toEqual([['p-ann']]);
  });

  it('are never left out because there were too many in one event [8.10l]', async () => {
    const players = (many: number) =>
      Array.from({ length: many }, (_, at) => ({ id: `guest${String(at)}`, name: `Gast ${String(at)}` }));
    await told('studio', 'bo', { players: players(MOST_IN_ONE) });
    expect(await namesIn('guest199')).toHaveLength(1);
    await told('studio', 'bo', { players: players(MOST_IN_ONE + 1) });
    await expect(indexFor(['guest199'])).rejects.toMatchObject({
      code: 'SOUL_TOO_LARGE',
      details: { playersInOneEventLimit: MOST_IN_ONE },
    });
  });

  it('are never left out because their names were too long together [8.10l]', async () => {
    const players = (many: number) => Array.from({ length: many }, (_, at) => `Gast${String(at)} ${'x'.repeat(240)}`);
    const fitting = Math.floor(MOST_CHARS_IN_ONE / 300);
    await told('studio', 'bo', { players: [...players(fitting), ...players(fitting)] });
    expect(await namesIn(players(fitting).at(-1) ?? '')).toHaveLength(1);
    await told('studio', 'bo', { players: players(MOST_CHARS_IN_ONE / 250) });
    await expect(indexFor(['Ann'])).rejects.toMatchObject({
      code: 'SOUL_TOO_LARGE',
      details: { playerCharsInOneEventLimit: MOST_CHARS_IN_ONE },
    });
  });

  it('are never left out because of those who are not looked for, however they are written [8.10l]', async () => {
    const short = Array.from({ length: 10_000 }, (_, at) => String.fromCodePoint(0x4e00 + (at % 3)));
    // An id and a name are no other player because of what stands between them.
    const alike = [{ id: '1 a+b' }, { id: '1 a', name: 'b' }, '1 a+b', { id: 'a', name: 'Ann Lee' }];
    await told('studio', 'bo', { players: [...short, ...alike, 'Bert'] });
    expect(await namesIn('Bert met ann lee.')).toEqual([['Bert'], ['a', 'Ann Lee']]);
    await told('studio', 'bo', {
      players: [
        LONG_WHEN_FOLDED.repeat(200),
        ...Array.from({ length: 20 }, (_, at) => `${String(at)}${LONG_WHEN_FOLDED.repeat(200)}`),
      ],
    });
    await expect(indexFor(['Ann'])).rejects.toMatchObject({ code: 'SOUL_TOO_LARGE' });
  });

  it('are not passed over while the list of them is behind [8.10l]', async () => {
    await expect(indexFor(['Ann'], withPlayerNames(events, true))).rejects.toMatchObject({ code: 'READ_MODEL_BEHIND' });
  });
});

describe('a trace of a name', () => {
  it('is among those of every text in which the name is found', () => {
    const piece = fc.constantFrom(
      'Ann',
      'ann',
      'LEE',
      'Σας',
      'ΣΑΣ',
      '太',
      '郎',
      'タ',
      '47',
      '4711',
      ' ',
      '-',
      '_',
      'x',
      'é',
      '\u0301',
    );
    const text = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));
    let found = 0;
    fc.assert(
      fc.property(text, text, text, (name, before, after) => {
        const index = createPlayerIndex();
        index.note({ player: name });
        for (const said of [before + name + after, before]) {
          if (index.spokenOf(said).length === 0) continue;
          found += 1;
          const traces = new Set(tracesIn(said));
          expect(tracesOf(name).some((trace) => traces.has(trace))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(50);
  });
});
