import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import {
  archiveNpc,
  type NpcPatch,
  npcTag,
  patchNpc,
  registerNpc,
  reportFacts,
  requireReport,
  type Registration,
} from '../../../../src/features/npcs/domain/decide.js';
import { DATA_BYTES, FACTS_BYTES } from '../../../../src/features/npcs/domain/mind-data.js';
import { givenOf } from '../../../support/given.js';

const given = givenOf(mindFold);

const unknown = given();
const mind = given({ type: 'NpcRegistered', data: { persona: 'Calm.', data: { hp: 3, mood: { fear: 0 } } } });
const archived = mind.when(archiveNpc).and;
const withoutData = given({ type: 'NpcRegistered', data: {} });

/** Data of this many bytes of JSON. */
const dataOf = (bytes: number) => ({ notes: 'x'.repeat(bytes - '{"notes":""}'.length) });

describe("a mind's data", () => {
  const holding = (bytes: number) => given({ type: 'NpcRegistered', data: { data: dataOf(bytes) } });

  it('holds at most 256 KiB, in a new mind and in a known one [1.2z]', () => {
    expect(DATA_BYTES).toBe(256 * 1024);
    for (const [before, type] of [
      [unknown, 'NpcRegistered'],
      [holding(20), 'NpcUpdated'],
    ] as const) {
      const data = dataOf(DATA_BYTES);
      before.when(registerNpc, { data }).then([{ type, data: { data } }]);
      before
        .when(registerNpc, { data: dataOf(DATA_BYTES + 1) })
        .then('DATA_TOO_LARGE', { bytes: DATA_BYTES + 1, limitBytes: DATA_BYTES });
    }
  });

  it('may only shrink or stay the same beyond its bound [1.2z]', () => {
    const beyond = holding(DATA_BYTES + 100);
    const less = dataOf(DATA_BYTES + 99);
    beyond.when(registerNpc, { data: less }).then([{ type: 'NpcUpdated', data: { data: less } }]);
    beyond.when(registerNpc, { data: dataOf(DATA_BYTES + 100) }).then([]);
    beyond.when(registerNpc, { data: dataOf(DATA_BYTES + 101) }).then('DATA_TOO_LARGE');
    expect(beyond.when(registerNpc, { persona: 'Calm.' }).events).toHaveLength(1);
  });
});

describe('registering a mind', () => {
  it.each<[given: string, type: string, before: typeof mind, asked: Registration, data?: Registration]>([
    [
      'persona and data of a new one',
      'NpcRegistered',
      unknown,
      { persona: 'Calm.', data: {} },
      { persona: 'Calm.', data: {} },
    ],
    ['nothing of a new one', 'NpcRegistered', unknown, {}, {}],
    ['another persona', 'NpcUpdated', mind, { persona: 'Bold.' }, { persona: 'Bold.' }],
    ['an empty persona', 'NpcUpdated', mind, { persona: '' }, { persona: '' }],
    ['data that replace all', 'NpcUpdated', mind, { data: { hp: 3 } }, { data: { hp: 3 } }],
    ['its own persona and other data', 'NpcUpdated', mind, { persona: 'Calm.', data: {} }, { data: {} }],
    ['empty data without earlier data', 'NpcUpdated', withoutData, { data: {} }, { data: {} }],
    ['nothing', 'no event', mind, {}],
    ['unchanged members in another order', 'no event', mind, { persona: 'Calm.', data: { mood: { fear: 0 }, hp: 3 } }],
    ['nothing of an archived one', 'NpcUpdated', archived, {}, {}],
    ['a new persona of an archived one', 'NpcUpdated', archived, { persona: 'Bold.' }, { persona: 'Bold.' }],
  ])('given %s records %s [2.1e]', (_, type, before, asked, data) => {
    before.when(registerNpc, asked).then(data === undefined ? [] : [{ type, data }]);
  });
});

describe('patching a mind', () => {
  const bound = mind.when(registerNpc, { rulesetId: 'gate' }).and;
  it.each<[given: string, type: string, before: typeof mind, asked: NpcPatch, data?: object]>([
    ['a member of its data', 'NpcUpdated', mind, { data: { hp: 2 } }, { data: { hp: 2, mood: { fear: 0 } } }],
    ['null for a member', 'NpcUpdated', mind, { data: { mood: { fear: null } } }, { data: { hp: 3, mood: {} } }],
    ['null for its data', 'NpcUpdated', mind, { data: null }, { data: {} }],
    ['null for its persona', 'NpcUpdated', mind, { persona: null }, { persona: '' }],
    ['data without earlier data', 'NpcUpdated', withoutData, { data: { hp: 1, mana: null } }, { data: { hp: 1 } }],
    ['its own values', 'no event', mind, { persona: 'Calm.', data: { hp: 3, mood: { fear: 0 } } }],
    ['null for what it does not have', 'no event', mind, { data: { mana: null, mood: { joy: null } } }],
    ['null for data that it does not have', 'no event', withoutData, { data: null }],
    ['nothing', 'no event', mind, {}],
    ['nothing of an archived one', 'no event', archived, {}],
    ['a new persona of an archived one', 'NpcUpdated', archived, { persona: 'Bold.' }, { persona: 'Bold.' }],
    ['a binding', 'RulesetBound', mind, { rulesetId: 'gate' }, { rulesetId: 'gate' }],
    ['its own binding', 'no event', bound, { rulesetId: 'gate' }],
    ['null for its binding', 'RulesetBound', bound, { rulesetId: null }, { rulesetId: null }],
    ['null for a binding that it does not have', 'no event', mind, { rulesetId: null }],
  ])('given %s records %s [2.1l, 2.1m]', (_, type, before, asked, data) => {
    before.when(patchNpc, asked, null).then(data === undefined ? [] : [{ type, data }]);
  });

  it('records both a new persona and a new binding', () => {
    const asked = { persona: 'Bold.', rulesetId: 'gate' };
    mind.when(patchNpc, asked, null).then([
      { type: 'NpcUpdated', data: { persona: 'Bold.' } },
      { type: 'RulesetBound', data: { rulesetId: 'gate' } },
    ]);
  });

  it('is bounded by what results, not by what is sent [2.1m, 1.2z]', () => {
    const large = given({ type: 'NpcRegistered', data: { data: dataOf(DATA_BYTES - 8) } });
    large.when(patchNpc, { data: { more: 1 } }, null).then('DATA_TOO_LARGE', { limitBytes: DATA_BYTES });
    large.when(patchNpc, { persona: 'Bold.' }, null).then([{ type: 'NpcUpdated', data: { persona: 'Bold.' } }]);
    const beyond = given({ type: 'NpcRegistered', data: { data: { ...dataOf(DATA_BYTES * 1.9), hp: 1 } } });
    expect(beyond.when(patchNpc, { data: { hp: null } }, null).events).toHaveLength(1);
    beyond.when(patchNpc, { persona: 'x'.repeat(60_000), data: { hp: null } }, null).then('EVENTS_TOO_LARGE');
    const values = Array.from({ length: 6_000 }, () => 1);
    const many = given({ type: 'NpcRegistered', data: { data: { values } } });
    many.when(patchNpc, { data: { others: values } }, null).then('EVENTS_TOO_LARGE');
  });

  it('is carried out only on the version that is expected [2.1o]', () => {
    const next = mind.when(patchNpc, { data: { hp: 2 } }, ['"0"']).and;
    expect(npcTag(next.state)).toBe('"1"');
    const asked = { data: { hp: 1 } };
    for (const expected of [['"0"'], ['W/"1"'], ['1'], []])
      next.when(patchNpc, asked, expected).then('PRECONDITION_FAILED', { etag: '"1"' });
    for (const expected of [null, ['"1"'], ['"0"', '"1"']])
      expect(next.when(patchNpc, asked, expected).events).toHaveLength(1);
    next.when(patchNpc, {}, ['"0"']).then('PRECONDITION_FAILED');
  });
});

describe('reporting facts', () => {
  const stormy = given({ type: 'FactsReported', data: { facts: { weather: 'storm', war: { days: 3 } } } });
  const of = (bytes: number) => dataOf(bytes);

  it('records the report, also of a mind without events, and nothing if nothing changes [5.9a, 5.9b]', () => {
    for (const before of [unknown, mind, archived, stormy])
      before
        .when(reportFacts, { sun: true, war: { days: null } })
        .then([{ type: 'FactsReported', data: { facts: { sun: true, war: { days: null } } } }]);
    for (const facts of [{}, { weather: 'storm' }, { war: { days: 3, won: null }, peace: null }])
      stormy.when(reportFacts, facts).then([]);
    unknown.when(reportFacts, {}).then([]);
    expect(stormy.when(reportFacts, { war: null }).and.state.facts).toEqual({ weather: 'storm' });
  });

  it('is bounded by the facts that result, which may only shrink beyond the bound [5.9c]', () => {
    expect(FACTS_BYTES).toBe(64 * 1024);
    const full = given({ type: 'FactsReported', data: { facts: of(FACTS_BYTES) } });
    expect(unknown.when(reportFacts, of(FACTS_BYTES)).events).toHaveLength(1);
    full.when(reportFacts, { a: 1 }).then('FACTS_TOO_LARGE', { bytes: FACTS_BYTES + 6, limitBytes: FACTS_BYTES });
    const beyond = given({ type: 'FactsReported', data: { facts: { ...of(FACTS_BYTES), a: 1, b: 2 } } });
    expect(beyond.when(reportFacts, { b: null }).events).toHaveLength(1);
    beyond.when(reportFacts, { b: 3 }).then('FACTS_TOO_LARGE');
    beyond.when(reportFacts, { b: 2 }).then([]);
  });

  it('is bounded itself, because many minds may record it [5.9c]', () => {
    requireReport(of(FACTS_BYTES));
    expect(() => requireReport(of(FACTS_BYTES + 1))).toThrow(
      expect.objectContaining({
        code: 'FACTS_TOO_LARGE',
        details: { bytes: FACTS_BYTES + 1, limitBytes: FACTS_BYTES },
      }),
    );
  });
});

describe('archiving a mind', () => {
  it('is recorded once, and not at all for an unknown mind', () => {
    mind.when(archiveNpc).then([{ type: 'NpcArchived', data: {} }]);
    archived.when(archiveNpc).then([]);
    unknown.when(archiveNpc).then([]);
  });
});
