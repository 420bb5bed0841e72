import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { npcs } from '../../projections/npcs.js';
import { evolveMind, initialMind } from '../../src/features/npcs/domain/state.js';
import { npcStream, rulesetStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';
import { actorIdentified, draftOf, history, storeOf, turnOpened } from '../support/histories.js';
import { rowsOf } from './fold.js';

const mira = npcStream('studio', 'mira');
const given = givenRowsOf(npcs, mira);

describe('the list of minds', () => {
  it('shows a registered mind with its tenant and id', () => {
    const registered = draftOf({ type: 'NpcRegistered', data: { persona: 'An innkeeper.', data: { hp: 3 } } });
    const strange = npcStream('studio', 'Mira of the Inn/ü');
    expect([...givenRowsOf(npcs, strange)(registered).state]).toEqual([
      [
        strange,
        {
          tenant: 'studio',
          npcId: 'Mira of the Inn/ü',
          persona: 'An innkeeper.',
          data: { hp: 3 },
          archived: false,
          rulesetId: null,
          players: 'apart',
          origin: null,
          changedAt: 0,
          revision: 0,
          updatedAt: '2026-01-01T00:00:00.000Z',
        },
      ],
    ]);
  });

  it('shows a mind that a turn created, with the actor’s persona and data', () => {
    const [row] = given(turnOpened('t1'), actorIdentified('t1')).state.values();
    expect(row).toMatchObject({ npcId: 'mira', persona: 'An innkeeper.', data: { mood: 'calm' } });
    expect(row).not.toHaveProperty('openTurns');
    expect(row).not.toHaveProperty('memories');
    const reported = draftOf({ type: 'FactsReported', data: { facts: { war: true } } });
    expect(given(reported, reported).state.get(mira)).not.toHaveProperty('facts');
  });

  it('sorts by id within a tenant, and tags archived and arriving minds', () => {
    const registered = draftOf({ type: 'NpcRegistered', data: {} });
    const archived = draftOf({ type: 'NpcArchived', data: {} });
    const indexAfter = (...events: readonly EventDraft[]) =>
      [...given(...events).state.values()].map((row) => npcs.indexOf(row));
    expect(indexAfter(registered)).toEqual([{ partition: 'studio', order: 'mira', tag: 'live' }]);
    const begun = draftOf({ type: 'SoulArrivalBegun', data: { soulId: 's1', importId: 'i1', memories: 0 } });
    expect(indexAfter(begun)).toEqual([{ partition: 'studio', order: 'mira', tag: 'arriving' }]);
    expect(indexAfter(registered, archived)).toEqual([{ partition: 'studio', order: 'mira', tag: 'archived' }]);
  });

  it('revives an archived mind with its next act [2.1f]', () => {
    const archived = draftOf({ type: 'NpcArchived', data: {} });
    expect(given(archived, turnOpened('t1')).state.get(mira)?.archived).toBe(false);
  });

  it('excludes streams that are not minds, and forks of minds', () => {
    const registered = draftOf({ type: 'NpcRegistered', data: {} });
    for (const stream of [rulesetStream('studio', 'mira'), `${mira}~fork`, 'tenants']) {
      expect(givenRowsOf(npcs, stream)(registered).state.size).toBe(0);
    }
  });

  it('holds the state of a mind except its facts, open turns, memories and card, so that folding can continue from a row', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (written) => {
        const events = await (await storeOf(written)).readAll(0, 100);
        for (const [stream, row] of rowsOf(npcs, events)) {
          const own = events.filter((event) => event.stream === stream && npcs.handles.includes(event.type));
          const { tenant: _tenant, npcId: _npcId, ...mind } = row;
          const {
            openTurns: _openTurns,
            memories: _memories,
            card: _card,
            facts: _facts,
            ...folded
          } = own.reduce(evolveMind, initialMind);
          expect(mind).toEqual(folded);
        }
      }),
      { numRuns: 50 },
    );
  });
});
