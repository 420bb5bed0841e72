import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { utterances, type UtterancesRow } from '../../projections/utterances.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { contextBuilt, directiveGiven, draftOf, memoryStored, turnOpened, verdict } from '../support/histories.js';
import { givenRowsOf } from '../support/given.js';

const mira = npcStream('studio', 'mira');
const given = givenRowsOf(utterances, mira);
const rowsAfter = (...events: readonly EventDraft[]): readonly UtterancesRow[] => [...given(...events).state.values()];
const saidAfter = (...events: readonly EventDraft[]) =>
  rowsAfter(...events).flatMap(({ turnId, utterances: all }) =>
    all.map(({ kind, by, to, text }) => [turnId, kind, by.join('|'), to.join('|'), text]),
  );

const data = (event: EventDraft, more: object): EventDraft => ({ ...event, data: { ...event.data, ...more } });
const deciding = (more: object, valid = true, turnId = 't1'): EventDraft =>
  data(verdict(turnId, valid), {
    verdict: { valid, dialogue: 'Three coins.', action: null, stateDelta: {}, memoryStore: [], ...more },
  });

describe('the utterances of a turn', () => {
  it('are one row: the words heard, and then the words said and the action [10.10b]', () => {
    const action = { type: 'GIVE_ITEM', target: 'bo', reason: 'he paid' };
    const context = { player: { id: 'p1', name: 'Anna' } };
    expect(saidAfter(turnOpened('t1', { context }), deciding({ action }))).toEqual([
      ['t1', 'heard', 'Anna|p1', 'mira', 'A stranger comes in.'],
      ['t1', 'said', 'mira', 'bo|Anna|p1', 'Three coins.'],
      ['t1', 'did', 'mira', 'bo|Anna|p1', 'GIVE_ITEM -> bo: he paid'],
    ]);
    expect(rowsAfter(turnOpened('t1'), deciding({ action }))).toHaveLength(1);
  });

  it('exclude empty words and missing actions', () => {
    expect(saidAfter(turnOpened('t1', { observation: '' }), deciding({ dialogue: '' }))).toEqual([]);
    expect(saidAfter(deciding({}))).toEqual([]);
  });

  it('mark a refused action as refused [10.10a]', () => {
    const [row] = rowsAfter(turnOpened('t1'), deciding({ refusedAction: { type: 'ATTACK' } }, false));
    expect(row?.utterances.map(({ kind, text, refused }) => [kind, text, refused])).toEqual([
      ['heard', 'A stranger comes in.', undefined],
      ['said', 'Three coins.', true],
      ['did', 'ATTACK', true],
    ]);
  });

  it('include the observations of single-request turns [10.10b]', () => {
    expect(
      saidAfter(
        data(directiveGiven('d'), { observation: 'one', context: { playerName: 'Anna' } }),
        data(contextBuilt('c'), { observation: 'two', npcState: { players: ['Bo', 'Cy'] } }),
        data(verdict('v', true, true), {
          asked: { observation: 'three', npcState: { playerId: 7 }, ruleset: null },
        }),
      ),
    ).toEqual([
      ['d', 'heard', 'Anna', 'mira', 'one'],
      ['c', 'heard', 'Bo', 'mira', 'two'],
      ['v', 'heard', '7', 'mira', 'three'],
      ['v', 'said', 'mira', '7', 'Three coins.'],
    ]);
  });

  it('have the player of the context, else of the state, and none from relations alone [10.10b]', () => {
    const by = (of: object): unknown => saidAfter(turnOpened('t1', of))[0]?.[2];
    expect(by({ context: { a: { player: 'Anna' } }, npcState: { player: 'Bo' } })).toBe('Anna');
    expect(by({ context: null, npcState: { player: 'Bo' } })).toBe('Bo');
    expect(by({ npcState: { relationships: { Cy: 1 } } })).toBe('');
  });

  it('include memories without a turn [10.10a]', () => {
    const arrived = draftOf({
      type: 'MemoryArrived',
      data: {
        memoryId: 't1',
        text: 'It snowed.',
        type: 'observation',
        importance: 0.5,
        storedAt: '2025-01-01T00:00:00.000Z',
        confirmed: true,
        source: { soulId: 's', turnId: null, eventId: 'e', revision: 1 },
      },
    });
    expect(saidAfter(memoryStored('m1'), memoryStored('m2', 'By a turn.', 't1'), arrived, turnOpened('t1'))).toEqual([
      [null, 'memory', '', '', 'It rained.'],
      [null, 'memory', '', '', 'It snowed.'],
      ['t1', 'heard', '', 'mira', 'A stranger comes in.'],
    ]);
  });

  it('have ascending positions, and the tags that filters use', () => {
    const rows = rowsAfter(
      turnOpened('t1', { context: { player: 'Anna' } }),
      deciding({ action: { type: 'WAVE' } }),
      memoryStored('m1'),
    );
    const passages = rows.flatMap((row) => utterances.passagesOf?.(row) ?? []);
    const places = passages.map(({ place }) => place);
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
    expect(passages.map(({ tags }) => tags)).toEqual([
      ['kind heard', 'npc mira', 'by Anna', 'to mira'],
      ['kind said', 'npc mira', 'by mira', 'to Anna'],
      ['kind did', 'npc mira', 'by mira', 'to Anna'],
      ['kind memory', 'npc mira'],
    ]);
    expect(passages[0]).toMatchObject({ partition: 'studio', at: '2026-01-01T00:00:00.000Z' });
  });

  it('exclude forks', () => {
    expect(givenRowsOf(utterances, `${mira}~fork`)(turnOpened('t1')).state.size).toBe(0);
  });
});
