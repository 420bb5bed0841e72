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

  it('name the action, and the rule that refused or replaced it [10.10l]', () => {
    const refusal = { refusedAction: { type: 'ATTACK' }, code: 'RULE_REFUSED', details: { drRuleId: 'peace' } };
    const marks = (event: EventDraft): unknown =>
      rowsAfter(turnOpened('t1'), event)[0]
        ?.utterances.slice(1)
        .map(({ action, drRuleId, code, refused }) => [action, drRuleId, code, refused]);
    const refused = ['ATTACK', 'peace', 'RULE_REFUSED', true];
    expect(marks(deciding(refusal, false))).toEqual([refused, refused]);
    const full = { refusedAction: { type: 'USE' }, code: 'ITEMS_TOO_MANY', details: { drRuleId: 'of the world' } };
    expect(marks(deciding(full, false))).toEqual(Array(2).fill(['USE', undefined, 'ITEMS_TOO_MANY', true]));
    const grounds = { rules: [], seen: [], checks: [], replacedBy: 'polite' };
    expect(marks(data(deciding({ action: { type: 'BOW' } }), { grounds }))).toEqual(
      Array(2).fill(['BOW', 'polite', undefined, undefined]),
    );
  });

  it('include a refusal without words or action [10.10l]', () => {
    const silent = deciding({ dialogue: '', refusedAction: null, code: 'STATE_REFUSED' }, false);
    expect(saidAfter(silent)).toEqual([]);
    expect(saidAfter(turnOpened('t1'), silent).slice(1)).toEqual([['t1', 'said', 'mira', '', '']]);
  });

  it('mark what a turn remembers word for word, instead of holding it twice [10.10a, 10.10l]', () => {
    const heard = memoryStored('t1-0', 'A stranger comes in.', 't1');
    const again = memoryStored('t1-1', 'A stranger comes in.', 't1');
    const [row] = rowsAfter(turnOpened('t1'), deciding({}), heard, memoryStored('t1-2', 'He is tall.', 't1'), again);
    expect(row?.utterances.map(({ kind, text, memoryId }) => [kind, text, memoryId])).toEqual([
      ['heard', 'A stranger comes in.', 't1-0'],
      ['said', 'Three coins.', undefined],
      ['memory', 'He is tall.', 't1-2'],
      ['memory', 'A stranger comes in.', 't1-1'],
    ]);
  });

  it('mark memories that were retracted, and keep their passages [10.10l]', () => {
    const memoryIds = ['m1', 'm1', 't1-0', 'm9', 't9-0'];
    const retracted = draftOf({ type: 'MemoriesRetracted', data: { memoryIds, reason: 'False.' } });
    const player = { id: 'p1', name: 'Anna', from: 'body' };
    const stored = [
      data(memoryStored('m1'), { player }),
      memoryStored('m2'),
      turnOpened('t1'),
      memoryStored('t1-0', 'A stranger comes in.', 't1'),
      memoryStored('t1-1', 'He is tall.', 't1'),
    ];
    const after = rowsAfter(...stored, retracted);
    expect(after.flatMap(({ utterances: all }) => all.map(({ memoryId, retracted: is }) => [memoryId, is]))).toEqual([
      ['m1', true],
      ['m2', undefined],
      ['t1-0', true],
      ['t1-1', undefined],
    ]);
    const passages = (rows: readonly UtterancesRow[]) => rows.map((row) => utterances.passagesOf?.(row));
    expect(passages(after)).toEqual(passages(rowsAfter(...stored)));
    expect(passages(after)[0]?.[0]?.tags).toContain('player p1');
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

  it('have the player recorded with the turn before any that its texts name [12.3e]', () => {
    const by = (player: object): unknown =>
      saidAfter(data(turnOpened('t1', { context: { player: 'Bo' } }), { player }))[0]?.[2];
    expect(by({ id: 'p1', name: 'Anna', from: 'header' })).toBe('Anna|p1');
    expect(by({ id: 'p1', from: 'body' })).toBe('p1');
    expect(by({ id: '', from: 'body' })).toBe('');
    const player = { id: 'p1', from: 'body' };
    const asked = { observation: 'Hi.', npcState: { player: 'Bo' }, ruleset: null, player };
    const events = [data(contextBuilt('c'), { observation: 'Hi.', player }), data(verdict('v', true, true), { asked })];
    expect(events.map((each) => saidAfter(each)[0]?.[2])).toEqual(['p1', 'p1']);
  });

  it('include memories, those of a turn too [10.10a]', () => {
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
      ['t1', 'memory', '', '', 'By a turn.'],
      ['t1', 'heard', '', 'mira', 'A stranger comes in.'],
      [null, 'memory', '', '', 'It snowed.'],
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
      ['kind heard', 'npc mira', 'by Anna', 'to mira', 'refused false', 'player Anna', 'actor key-1'],
      ['kind said', 'npc mira', 'by mira', 'to Anna', 'refused false', 'action WAVE', 'player Anna', 'actor key-1'],
      ['kind did', 'npc mira', 'by mira', 'to Anna', 'refused false', 'action WAVE', 'player Anna', 'actor key-1'],
      ['kind memory', 'npc mira', 'refused false', 'actor key-1'],
    ]);
    expect(passages[0]).toMatchObject({ partition: 'studio', at: '2026-01-01T00:00:00.000Z' });
  });

  it('exclude forks', () => {
    expect(givenRowsOf(utterances, `${mira}~fork`)(turnOpened('t1')).state.size).toBe(0);
  });
});
