import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../support/memory/event-store.js';
import { yieldToEventLoop } from '../../src/kernel/concurrency/yield-to-event-loop.js';
import type { Verdict } from '../../src/features/npcs/domain/events.js';
import { npcStream, rulesetStream } from '../../src/kernel/base/stream-names.js';
import { createTurnLines, printTurns } from '../../src/server/turn-lines.js';
import { event } from '../support/events.js';
import { actorIdentified, draftOf, recorded, turnOpened, verdict } from '../support/histories.js';
import { appendNext } from '../support/append-next.js';

const stream = npcStream('studio', 'Wirtin Ü');

/** The lines for a mind's events, in their order. */
const linesOf = (...events: readonly EventDraft[]): (string | null)[] => {
  const lineOf = createTurnLines();
  return recorded(stream, events).map(lineOf);
};
const decided = (of: Partial<Verdict>, asked?: string): EventDraft => {
  const { type, data } = verdict('t1', of.valid ?? true);
  const inputs = asked === undefined ? {} : { asked: { observation: asked, npcState: {}, ruleset: null } };
  return { type, data: { ...data, verdict: { ...(data['verdict'] as object), ...of } as never, ...inputs } };
};

describe('the line of a finished turn', () => {
  it.each<[title: string, verdict: Partial<Verdict>, line: string]>([
    [
      'tells what was heard, done and said',
      { action: { type: 'ATTACK', target: 'thief' }, dialogue: 'Out!' },
      'ATTACK thief “Out!”',
    ],
    [
      'leaves out a target and words that are not there',
      { action: { type: 'IDLE', target: '' }, dialogue: '' },
      'IDLE',
    ],
    ['calls plain dialogue SPEAK', { action: null, dialogue: 'Yes?' }, 'SPEAK “Yes?”'],
    ['tells why it was refused', { valid: false, dialogue: 'Not in this house.' }, 'refused: Not in this house.'],
  ])('%s', (_, of, line) => {
    expect(linesOf(turnOpened('t1'), actorIdentified('t1'), decided(of))).toEqual([
      null,
      null,
      `00:00:02  Wirtin Ü  “A stranger comes in.” → ${line}`,
    ]);
  });

  it('reports a turn whose body never came back', () => {
    const expired = draftOf({ type: 'TurnExpired', data: { turnId: 't1' } });
    expect(linesOf(turnOpened('t1'), expired)[1]).toBe(
      '00:00:01  Wirtin Ü  “A stranger comes in.” → expired: the body did not respond in time',
    );
  });

  it('reports a direct verdict with its own observation', () => {
    expect(linesOf(decided({ dialogue: 'Yes?' }, 'A knock.'))).toEqual([
      '00:00:00  Wirtin Ü  “A knock.” → SPEAK “Yes?”',
    ]);
    expect(linesOf(decided({ dialogue: 'Yes?' }, ''))).toEqual(['00:00:00  Wirtin Ü  SPEAK “Yes?”']);
  });

  it('omits the texts of a turn that was opened before the printing began', () => {
    expect(linesOf(decided({ dialogue: 'Yes?' }))).toEqual(['00:00:00  Wirtin Ü  SPEAK “Yes?”']);
  });

  it('stays one line, however long and malformed the texts are', () => {
    const said = `  ${'word\n'.repeat(100)}`;
    const [, line = ''] = linesOf(turnOpened('t1', { observation: said }), decided({ dialogue: said }));
    expect(line).not.toContain('\n');
    const [heard, then] = line?.split(' → ') ?? [];
    expect(heard).toMatch(/“(word ){14}w…”$/);
    expect(then).toMatch(/^SPEAK “(word ){14}w…”$/);
  });

  it('is not printed for events of other streams', () => {
    const lineOf = createTurnLines();
    const [other] = recorded(rulesetStream('studio', 'inn'), [decided({})]);
    expect(other === undefined ? undefined : lineOf(other)).toBeNull();
  });
});

describe('printing turns', () => {
  it('begins with new events, and ends with its signal', async () => {
    const store = new MemoryEventStore();
    const append = async (...events: EventDraft[]): Promise<void> => {
      const position = await store.lastPosition();
      const batch = events.map(({ type, data }, n) => event(`${position}-${n}`, { type, data }));
      await appendNext(store, stream, batch);
    };
    await append(turnOpened('t1'), decided({ dialogue: 'Before.' }));
    const lines: string[] = [];
    const stop = new AbortController();
    const printing = printTurns(
      store,
      (line) => {
        lines.push(line);
        if (lines.length === 2) stop.abort();
      },
      stop.signal,
    );
    await yieldToEventLoop();
    await append(turnOpened('t2'), decided({ dialogue: 'One.' }), decided({ dialogue: 'Two.' }));
    await printing;
    expect(lines.map((line) => line.split('SPEAK ')[1])).toEqual(['“One.”', '“Two.”']);
  });
});
