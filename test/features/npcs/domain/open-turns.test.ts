import type { EventDraft } from '../../../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import { noOpenTurns, type OpenTurns, openTurnsOf, withTurn } from '../../../../src/features/npcs/domain/open-turns.js';
import { givenOf } from '../../../support/given.js';
import { draftOf, memoriesRecalled, turnOpened, verdict } from '../../../support/histories.js';

const given = givenOf(mindFold);
const open = (...events: readonly EventDraft[]): readonly string[] => openTurnsOf(given(...events).state.openTurns);
const expired = draftOf({ type: 'TurnExpired', data: { turnId: 't1' } });

describe('the open turns of a mind', () => {
  it.each([
    ['a verdict', verdict('t1', true)],
    ['a refusal', verdict('t1', false)],
    ['its expiry', expired],
  ])('include a turn until %s', (_, end) => {
    expect(open(turnOpened('t1'), turnOpened('t2'), memoriesRecalled('t1'))).toEqual(['t1', 't2']);
    expect(open(turnOpened('t1'), turnOpened('t2'), end)).toEqual(['t2']);
  });

  it('are not changed by an act of a compatibility route', () => {
    expect(open(turnOpened('t1'), verdict('v1', true, true))).toEqual(['t1']);
  });

  it('are always the turns that were opened and have not ended, after any events', () => {
    const steps = fc.array(fc.record({ turn: fc.nat(40), open: fc.boolean() }), { maxLength: 400 });
    fc.assert(
      fc.property(steps, (taken) => {
        const model = new Set<string>();
        const moments: { readonly turns: OpenTurns; readonly expected: readonly string[] }[] = [];
        let turns = noOpenTurns;
        for (const step of taken) {
          const turnId = `t${step.turn}`;
          turns = withTurn(turns, turnId, step.open);
          if (step.open) model.add(turnId);
          else model.delete(turnId);
          moments.push({ turns, expected: [...model] });
        }
        for (const { turns: at, expected } of moments) expect(openTurnsOf(at)).toEqual(expected);
      }),
    );
  });

  it('copy little with each opening, however many are open', () => {
    let turns = noOpenTurns;
    let copied = 0;
    for (let n = 0; n < 10_000; n += 1) {
      const before = turns;
      turns = withTurn(turns, `t${n}`, true);
      copied += turns.changes.length + (turns.list === before.list ? 0 : turns.list.length);
    }
    expect(openTurnsOf(turns)).toHaveLength(10_000);
    // A single list would have been copied 50 million times.
    expect(copied).toBeLessThan(2_000_000);
  });
});
