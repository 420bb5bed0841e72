import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { type TurnRow, turns } from '../../projections/turns.js';
import { rowKey } from '../../src/kernel/read-models/row-key.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import {
  actorIdentified,
  contextBuilt,
  directiveGiven,
  draftOf,
  memoriesRecalled,
  recorded,
  turnOpened,
  verdict,
} from '../support/histories.js';
import { givenRowsOf } from '../support/given.js';

const mira = npcStream('studio', 'mira');
const given = givenRowsOf(turns, mira);
const turnsAfter = (...events: readonly EventDraft[]): readonly TurnRow[] => [...given(...events).state.values()];

describe('the list of turns', () => {
  it('shows a turn with the inputs of its opening', () => {
    const opening = turnOpened('t1', { resumedFrom: 't0', ruleset: { rulesetId: 'inn', version: 2 } });
    expect([...given(opening).state]).toEqual([
      [
        rowKey(mira, 't1'),
        {
          turnId: 't1',
          npcId: 'mira',
          kind: 'process',
          state: 'awaitingActor',
          openedAt: '2026-01-01T00:00:00.000Z',
          deadlineAt: '2026-01-01T00:15:00.000Z',
          resumedFrom: 't0',
          ruleset: { rulesetId: 'inn', version: 2 },
          stream: mira,
          revision: 0,
        },
      ],
    ]);
  });

  it('follows a turn from state to state to its verdict [10.1i]', () => {
    const events = [turnOpened('t1'), actorIdentified('t1'), memoriesRecalled('t1'), verdict('t1', true)];
    const states = events.map((_, last) => turnsAfter(...events.slice(0, last + 1))[0]?.state);
    expect(states).toEqual(['awaitingActor', 'awaitingMemories', 'awaitingInference', 'ended']);
    expect(turnsAfter(...events)).toMatchObject([{ endedAt: '2026-01-01T00:00:03.000Z', valid: true }]);
  });

  it('shows the first round of a turn whose first step contained results', () => {
    const query = { type: 'QueryVector', query: '', limit: 5, threshold: 0.5 } as const;
    const infer = { type: 'ExecuteInference', prompt: '', constraints: {} } as const;
    const opened = turnsAfter(turnOpened('t1', { instruction: query }), turnOpened('t2', { instruction: infer }));
    expect(opened.map(({ state }) => state)).toEqual(['awaitingMemories', 'awaitingInference']);
  });

  it('distinguishes a refusal from an expiry [10.1i]', () => {
    const listed = turnsAfter(
      turnOpened('t1'),
      turnOpened('t2'),
      verdict('t1', false),
      draftOf({ type: 'TurnExpired', data: { turnId: 't2' } }),
    );
    expect(listed).toMatchObject([
      { turnId: 't1', state: 'ended', endedAt: '2026-01-01T00:00:02.000Z', valid: false },
      { turnId: 't2', state: 'expired', endedAt: '2026-01-01T00:00:03.000Z' },
    ]);
    expect(listed[1]).not.toHaveProperty('valid');
  });

  it('shows a single request as a turn that ended with its response', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const ended = { state: 'ended', openedAt: at, deadlineAt: at, endedAt: at };
    expect(turnsAfter(directiveGiven('d1'))).toMatchObject([
      { turnId: 'd1', kind: 'directive', ...ended, ruleset: null },
    ]);
    expect(turnsAfter(contextBuilt('c1'))).toMatchObject([
      { kind: 'context', ...ended, ruleset: { rulesetId: 'inn', version: 1 } },
    ]);
    expect(turnsAfter(verdict('v1', false, true))).toMatchObject([
      { kind: 'verdict', ...ended, ruleset: { rulesetId: 'inn', version: 2 }, valid: false },
    ]);
  });

  it('sorts the turns of a mind by the revision of their first event, as numbers', () => {
    const places = [9, 10, 123_456].map((revision) => {
      const [opening] = recorded(mira, [turnOpened('t1')]);
      if (opening === undefined) throw new Error('nothing was recorded');
      const row = turns.evolve(null, { ...opening, revision }, 't1');
      return row === null ? null : turns.indexOf(row);
    });
    expect(places).toEqual([
      { partition: mira, order: '0000000000000009', tag: 'awaitingActor' },
      { partition: mira, order: '0000000000000010', tag: 'awaitingActor' },
      { partition: mira, order: '0000000000123456', tag: 'awaitingActor' },
    ]);
  });

  it('excludes turns that were never opened, and turns of forks', () => {
    expect(turnsAfter(actorIdentified('t1'), verdict('t1', true))).toEqual([]);
    expect(givenRowsOf(turns, `${mira}~fork`)(turnOpened('t1')).state.size).toBe(0);
  });
});
