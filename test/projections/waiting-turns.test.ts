import { describe, expect, it } from 'vitest';

import { waitingTurns } from '../../projections/waiting-turns.js';
import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { givenRowsOf } from '../support/given.js';
import { actorIdentified, contextBuilt, directiveGiven, turnOpened, verdict } from '../support/histories.js';

const mira = npcStream('studio', 'mira');
const rowsAfter = (...events: readonly EventDraft[]) => [...givenRowsOf(waitingTurns, mira)(...events).state.values()];

describe('the open turns of all minds', () => {
  it('keep the place at which they were opened [10.1w]', () => {
    const rows = rowsAfter(turnOpened('t1'), turnOpened('t2'), actorIdentified('t1'));
    expect(rows.map(({ turnId, state }) => [turnId, state])).toEqual([
      ['t1', 'awaitingMemories'],
      ['t2', 'awaitingActor'],
    ]);
    expect(rows.map((row) => waitingTurns.indexOf(row))).toEqual([
      { partition: 'studio', order: '0000000000000001', tag: '' },
      { partition: 'studio', order: '0000000000000002', tag: '' },
    ]);
  });

  it('leave when they end, and single requests never enter [10.1w]', () => {
    expect(rowsAfter(turnOpened('t1'), verdict('t1', true), actorIdentified('t1'))).toEqual([]);
    expect(rowsAfter(directiveGiven('d'), contextBuilt('c'), verdict('v', true, true))).toEqual([]);
  });
});
