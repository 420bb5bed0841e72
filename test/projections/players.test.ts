import { describe, expect, it } from 'vitest';

import { type PlayerRow, players } from '../../projections/players.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import {
  contextBuilt,
  directiveGiven,
  draftOf,
  memoriesRecalled,
  memoryStored,
  turnOpened,
  verdict,
} from '../support/histories.js';
import { givenRowsOf } from '../support/given.js';

const mira = npcStream('studio', 'mira');
const given = givenRowsOf(players, mira);
const playersAfter = (...events: readonly EventDraft[]): readonly PlayerRow[] => [...given(...events).state.values()];
const by = (event: EventDraft, player: JsonObject): EventDraft => ({ ...event, data: { ...event.data, player } });
const at = (second: number): string => `2026-01-01T00:00:0${String(second)}.000Z`;

const ann = { id: 'p-ann', name: 'Ann', from: 'body' };

describe('the players whom a mind knows', () => {
  it('are counted by the turns that they opened, whatever opened them [12.3a, 12.3b, 12.3c]', () => {
    const asked = { observation: 'Hi.', npcState: {}, ruleset: null, player: { id: 'p-ann', from: 'header' } };
    const alone = verdict('t4', true, true);
    const rows = playersAfter(
      by(turnOpened('t1'), ann),
      memoriesRecalled('t1'),
      by(directiveGiven('t2'), ann),
      by(contextBuilt('t3'), ann),
      { ...alone, data: { ...alone.data, asked } },
      verdict('t1', true),
    );
    expect(rows).toEqual([
      { ...ann, from: 'header', since: at(0), lastAt: at(4), turns: 4, stream: mira, revision: 4 },
    ]);
  });

  it('include who told a memory, without a turn of their own [12.3a, 12.3c]', () => {
    const arrived = draftOf({
      type: 'MemoryArrived',
      data: {
        memoryId: 'm2',
        text: 'It snowed.',
        type: 'observation',
        importance: 0.5,
        storedAt: '2025-01-01T00:00:00.000Z',
        confirmed: true,
        source: { soulId: 's', turnId: null, eventId: 'e', revision: 1 },
        player: { id: 'p-ann', from: 'body' },
      },
    });
    expect(playersAfter(by(memoryStored('m1'), ann), arrived)).toMatchObject([
      { ...ann, since: '2025-01-01T00:00:00.000Z', lastAt: at(0), turns: 0 },
    ]);
  });

  it('tell apart who is named only by a context, and leave out strangers and nobody [12.3a, 12.3b]', () => {
    const rows = playersAfter(
      by(turnOpened('t1'), ann),
      by(turnOpened('t2'), { id: 'p-ann', from: 'context' }),
      by(turnOpened('t3'), { id: '', from: 'header' }),
      turnOpened('t4'),
    );
    expect(rows.map(({ id, from, turns }) => [id, from, turns])).toEqual([
      ['p-ann', 'body', 1],
      ['p-ann', 'context', 1],
    ]);
  });

  it('are listed by their last event, with ids of any text [12.3a]', () => {
    const odd = { id: `${'é/'.repeat(127)} x`, from: 'token' };
    const rows = playersAfter(by(turnOpened('t1'), odd), by(turnOpened('t2'), ann), by(memoryStored('m1'), odd));
    const newestFirst = [...rows].sort((one, other) =>
      players.indexOf(one).order < players.indexOf(other).order ? 1 : -1,
    );
    expect(newestFirst.map(({ id }) => id)).toEqual([odd.id, ann.id]);
  });

  it('exclude forks', () => {
    expect(givenRowsOf(players, `${mira}~fork`)(by(turnOpened('t1'), ann)).state.size).toBe(0);
  });
});
