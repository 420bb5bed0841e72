import type { EventDraft } from '../../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import {
  createLineage,
  type Kin,
  LINEAGE_MEMORIES,
  LINEAGE_STEPS,
} from '../../../../src/features/memory/domain/lineage.js';
import type { RecalledMemory } from '../../../../src/features/npcs/domain/events.js';
import {
  contextBuilt,
  draftOf,
  memoriesRecalled,
  memoryStored,
  recorded,
  turnOpened,
  verdict,
} from '../../../support/histories.js';
import { STREAM } from '../../../support/streams.js';

const first: Kin = { memoryId: 'm1', text: 'A lie.', turnId: null, revision: 0, depth: 0, by: [] };
const named = (text: string, more: Partial<RecalledMemory> = {}): RecalledMemory => ({
  ...{ text, type: 'observation', importance: 0.5, similarity: 0.75 },
  ...more,
});
const recalled = (turnId: string, ...memories: readonly RecalledMemory[]): EventDraft =>
  draftOf({ ...memoriesRecalled(turnId), data: { ...memoriesRecalled(turnId).data, memories } } as never);
const offered = (turnId: string, observation: string, ...memories: readonly RecalledMemory[]): EventDraft => {
  const built = contextBuilt(turnId);
  return { ...built, data: { ...built.data, observation, memories } };
};
const judgedOn = (turnId: string, observation: string): EventDraft => {
  const reached = verdict(turnId, true, true);
  return { ...reached, data: { ...reached.data, asked: { observation, npcState: {}, ruleset: null } } };
};

const expired = (turnId: string): EventDraft => draftOf({ type: 'TurnExpired', data: { turnId } });

const followed = (events: readonly EventDraft[], known: readonly Kin[] = [first]) => {
  const lineage = createLineage(known);
  for (const one of recorded(STREAM, events, 1)) lineage.take(one);
  return lineage;
};
const ids = (lineage: ReturnType<typeof followed>) =>
  lineage.derived().map(({ memoryId, depth, by }) => [memoryId, depth, by]);

describe('the lineage of a memory', () => {
  it('contains the turns that recalled it, by id or text, each with its verdict', () => {
    const byId = named('Another text.', { memoryId: 'm1', revision: 0 });
    const lineage = followed([
      ...[recalled('t1', byId), verdict('t1', true), recalled('t2', named('A lie.')), verdict('t2', false)],
      ...[recalled('t3', named('A lie.')), expired('t3'), recalled('t4', named('Else.')), verdict('t4', true)],
      ...[recalled('t5', named('A lie.', { memoryId: 'm9', revision: 0 })), recalled('t6', named('A lie.'))],
    ]);
    const spoken = { dialogue: 'Three coins.', action: null };
    const over = [
      ['t1', 'id', { valid: true, ...spoken }],
      ['t2', 'text', { valid: false, ...spoken }],
      ['t3', 'text', null],
    ];
    const shown = (open: boolean) =>
      lineage.recalledBy(open).map(({ turnId, match, verdict: of }) => [turnId, match, of]);
    expect(shown(false)).toEqual(over);
    expect(shown(true)).toEqual([...over, ['t6', 'text', null]]);
    expect([lineage.openAt(), lineage.derived()]).toEqual([[10], []]);
  });

  it('contains the memories that those turns stored, and the effects of these', () => {
    const lineage = followed([
      ...[recalled('t1', named('A lie.'), named('Else.')), recalled('t2', named('Else.'))],
      ...[verdict('t1', true), memoryStored('t1-0', 'Worse.', 't1'), memoryStored('t1-1', 'Bad.', 't1')],
      ...[verdict('t2', true), memoryStored('t2-0', 'Fine.', 't2'), memoryStored('m2', 'Worse.')],
      ...[recalled('t3', named('Worse.'), named('Bad.'), named('A lie.')), verdict('t3', true)],
      memoryStored('t3-0', 'Third.', 't3'),
    ]);
    expect(ids(lineage)).toEqual([
      ['t1-0', 1, ['m1']],
      ['t1-1', 1, ['m1']],
      ['t3-0', 1, ['t1-0', 't1-1', 'm1']],
    ]);
  });

  it('counts the memories of a resumed turn as recalled, and includes a context that ends immediately', () => {
    const opened = turnOpened('t2', { resumedFrom: 't1', memories: [named('A lie.')] });
    const context = contextBuilt('c1');
    const built: EventDraft = { ...context, data: { ...context.data, memories: [named('A lie.')] as never } };
    const lineage = followed([opened, built, verdict('t2', true), memoryStored('t2-0', 'Worse.', 't2')]);
    expect(lineage.recalledBy(false).map(({ turnId }) => turnId)).toEqual(['c1', 't2']);
    expect(ids(lineage)).toEqual([['t2-0', 1, ['m1']]]);
  });

  it('ignores a text that a memory got only later', () => {
    const later: Kin = { memoryId: 't0-0', text: 'Worse.', turnId: 't0', revision: 2, depth: 1, by: [] };
    const lineage = followed([recalled('t1', named('Worse.')), memoryStored('t0-0', 'Worse.', 't0')], [first, later]);
    expect(lineage.recalledBy(true)).toEqual([]);
    expect(lineage.openAt()).toEqual([]);
  });

  it('names 16 of many memories with one text, counts their bytes, and examines a frequent text once', () => {
    const often = Array.from({ length: 1_000 }, () => named('A lie.'));
    const turns = Array.from({ length: LINEAGE_MEMORIES - 1 }, (_, at) => [
      ...[recalled(`t${at}`, ...(at % 100 === 99 ? often : [named('A lie.')])), verdict(`t${at}`, true)],
      memoryStored(`t${at}-0`, 'A lie.', `t${at}`),
    ]).flat();
    const lineage = followed(turns);
    const derived = lineage.derived();
    expect(derived).toHaveLength(LINEAGE_MEMORIES - 1);
    expect(new Set(derived.map(({ depth }) => depth))).toEqual(new Set([1]));
    expect(derived.at(-1)?.by).toEqual(['m1', ...derived.slice(0, 15).map(({ memoryId }) => memoryId)]);
    expect(lineage.bytes()).toBeGreaterThan(JSON.stringify(derived).length / 2);
    expect(lineage.bytes()).toBeLessThan(JSON.stringify([derived, lineage.recalledBy(false)]).length * 2);
  });

  it('finds the smallest depth of a text, whatever it names', () => {
    const far = Array.from({ length: 20 }, (_, at): Kin => ({
      ...{ memoryId: `f${at}`, text: 'Worse.', turnId: 't0', revision: 2 + at, depth: 9, by: [] },
    }));
    const near: Kin = { ...first, memoryId: 'n', text: 'Worse.', revision: 40, depth: 3 };
    const events = [recalled('t1', named('Worse.')), verdict('t1', true), memoryStored('t1-0', 'Bad.', 't1')];
    const depthAfter = (known: readonly Kin[], from: number): unknown => {
      const lineage = createLineage(known);
      for (const one of recorded(STREAM, events, from)) lineage.take(one);
      return lineage.derived().map(({ depth, by }) => [depth, by.length]);
    };
    expect(depthAfter([near, ...far, first], 50)).toEqual([[4, 16]]);
    expect(depthAfter([near, ...far, first], 30)).toEqual([[10, 16]]);
  });

  it('continues where an earlier part stopped, at any point between turns', () => {
    const events = [
      ...[turnOpened('t4', { observation: 'Who?' }), offered('c1', 'Who?', named('A lie.'))],
      ...[recalled('t1', named('A lie.')), verdict('t1', true), memoryStored('t1-0', 'Worse.', 't1')],
      ...[recalled('t2', named('A lie.')), recalled('t3', named('Worse.')), verdict('t3', true)],
      ...[memoryStored('t3-0', 'Bad.', 't3'), verdict('t2', true), memoryStored('t2-0', 'Bad.', 't2')],
      ...[recalled('t4', named('A lie.')), verdict('t4', true), memoryStored('t4-0', 'Who?', 't4')],
      ...[memoryStored('t4-1', 'He.', 't4'), judgedOn('v1', 'Who?'), memoryStored('v1-0', 'Him.', 'v1')],
    ];
    const all = recorded(STREAM, events, 1);
    const whole = followed(events);
    for (let cut = 0; cut <= all.length; cut += 1) {
      const before = createLineage([first]);
      for (const one of all.slice(0, cut)) before.take(one);
      const next = all[cut];
      if (next !== undefined && before.goesOn(next)) continue;
      const after = createLineage([first, ...before.derived()], cut + 1);
      for (const revision of before.openAt()) after.take(all[revision - 1] as never);
      for (const one of all.slice(cut)) after.take(one);
      expect([...before.derived(), ...after.derived()], String(cut)).toEqual(whole.derived());
      expect([...before.recalledBy(false), ...after.recalledBy(true)]).toEqual(whole.recalledBy(true));
    }
  });

  it('leaves out what a turn only heard, unless it is the lie again [10.12n]', () => {
    const said = 'Who stole the bell?';
    const lineage = followed([
      ...[turnOpened('t1', { observation: ` ${said}` }), recalled('t1', named('A lie.')), verdict('t1', true)],
      ...[memoryStored('t1-0', said, 't1'), memoryStored('t1-1', 'The mayor did.', 't1')],
      ...[turnOpened('t2', { observation: 'A lie.' }), recalled('t2', named('A lie.')), verdict('t2', true)],
      ...[memoryStored('t2-0', 'A lie.', 't2'), turnOpened('t3', { observation: said }), expired('t3')],
    ]);
    expect(ids(lineage)).toEqual([
      ['t1-1', 1, ['m1']],
      ['t2-0', 1, ['m1']],
    ]);
    expect(lineage.openAt()).toEqual([]);
  });

  it('counts the exchanges of a conversation as recalled [10.12r]', () => {
    const conversation = [{ turnId: 't0', heard: 'A lie.', answered: { dialogue: 'I see.' } }];
    const told = { ...first, turnId: 't0' };
    const events = [
      ...[turnOpened('t1', { conversation }), verdict('t1', true), memoryStored('t1-0', 'The mayor did it.', 't1')],
      ...[turnOpened('t2'), verdict('t2', true), memoryStored('t2-0', 'It rains.', 't2')],
    ];
    expect(ids(followed(events, [told]))).toEqual([['t1-0', 1, ['m1']]]);
    const also = [
      turnOpened('t1', { conversation }),
      recalled('t1', named('A lie.', { memoryId: 'm1' })),
      verdict('t1', true),
    ];
    expect(followed(also, [told]).recalledBy(true)).toMatchObject([{ turnId: 't1', match: 'id' }]);
    expect(followed(events, [told]).recalledBy(true)).toEqual([]);
  });

  it('follows a context to the verdicts on its observation [10.12o]', () => {
    const lineage = followed([
      ...[offered('c1', 'Who?', named('A lie.')), offered('c2', 'What?', named('Else.')), judgedOn('v1', 'What?')],
      ...[memoryStored('v1-0', 'Fine.', 'v1'), judgedOn('v2', 'Who?'), memoryStored('v2-0', 'Who?', 'v2')],
      ...[memoryStored('v2-1', 'The mayor.', 'v2'), judgedOn('v3', ''), memoryStored('v3-0', 'Him.', 'v3')],
    ]);
    expect(ids(lineage)).toEqual([
      ['v2-1', 1, ['m1']],
      ['v3-0', 1, ['m1']],
    ]);
    expect(lineage.recalledBy(false).map(({ turnId, verdict: of }) => [turnId, of?.valid])).toEqual([
      ['c1', undefined],
      ['v2', true],
      ['v3', true],
    ]);
    const late = createLineage([first]);
    for (const one of recorded(STREAM, [offered('c1', 'Who?', named('A lie.'))], 1)) late.take(one);
    for (const one of recorded(STREAM, [judgedOn('v1', 'Who?'), memoryStored('v1-0', 'Him.', 'v1')], 2))
      late.take({ ...one, meta: { ...one.meta, at: '2999-01-01T00:00:00.000Z' } });
    expect(late.derived()).toEqual([]);
  });

  it('ends at its bounds, and reports this', () => {
    const wide = followed([
      ...[recalled('t1', named('A lie.')), verdict('t1', true)],
      ...Array.from({ length: LINEAGE_MEMORIES }, (_, n) =>
        memoryStored(`t1-${String(n)}`, `Text ${String(n)}.`, 't1'),
      ),
    ]);
    expect([wide.derived().length, wide.isCut()]).toEqual([LINEAGE_MEMORIES - 1, true]);
    const deep = followed(
      Array.from({ length: LINEAGE_STEPS + 1 }, (_, n) => [
        recalled(`t${String(n)}`, named(n === 0 ? 'A lie.' : `Text ${String(n)}.`)),
        verdict(`t${String(n)}`, true),
        memoryStored(`t${String(n)}-0`, `Text ${String(n + 1)}.`, `t${String(n)}`),
      ]).flat(),
    );
    expect([deep.derived().length, deep.isCut()]).toEqual([LINEAGE_STEPS, true]);
  });
});
