import { describe, expect, it } from 'vitest';

import { activity } from '../../projections/activity.js';
import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import { contextBuilt, directiveGiven, recorded, turnOpened, verdict } from '../support/histories.js';

const mira = npcStream('studio', 'mira');
const countsIn = (stream: string, ...drafts: readonly EventDraft[]) =>
  recorded(stream, drafts).flatMap((event) => activity.countsOf?.(event) ?? []);
const namesIn = (...drafts: readonly EventDraft[]): readonly string[] =>
  countsIn(mira, ...drafts)
    .filter(({ partition }) => partition === 'all studio days')
    .map(({ name }) => name);
const refusal = (details: object, code = 'RULE_REFUSED', asked = false): EventDraft => {
  const event = verdict('t1', false, asked);
  return {
    ...event,
    data: { ...event.data, verdict: { ...(event.data['verdict'] as object), code, details } },
  } as EventDraft;
};

describe('activity', () => {
  it('is counted for the mind and for all minds, by hour and by day of UTC [10.14a, 10.14d]', () => {
    expect(countsIn(mira, turnOpened('t1'))).toEqual([
      { partition: `${mira} hours`, place: '2026-01-01T00', name: 'turns' },
      { partition: 'all studio hours', place: '2026-01-01T00', name: 'turns' },
      { partition: `${mira} days`, place: '2026-01-01', name: 'turns' },
      { partition: 'all studio days', place: '2026-01-01', name: 'turns' },
    ]);
    expect(countsIn(`${mira}~fork`, turnOpened('t1'))).toEqual([]);
  });

  it('counts each turn once, whatever its kind [10.14a]', () => {
    expect(namesIn(turnOpened('t1'), verdict('t1', true))).toEqual(['turns']);
    expect(namesIn(directiveGiven('d'), contextBuilt('c'), verdict('v', true, true))).toEqual(Array(3).fill('turns'));
  });

  it('counts refusals, also by the rule that refused [10.14a, 10.14b]', () => {
    expect(namesIn(turnOpened('t1'), refusal({ drRuleId: 'peace' }))).toEqual(['turns', 'refusals', 'rule peace']);
    expect(namesIn(refusal({}, 'ITEMS_TOO_MANY', true))).toEqual(['turns', 'refusals']);
    const [, name] = namesIn(refusal({ drRuleId: `\0${'é'.repeat(500)}` }));
    expect(name).toBe(`rule \uFFFD${'é'.repeat(199)}`);
  });
});
