import type { EventDraft } from '../../../../src/kernel/base/event-draft.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../../src/features/npcs/mind-fold.js';
import type { NpcEvent, NpcEventType } from '../../../../src/features/npcs/domain/events.js';
import { evolveMind, initialMind, isArriving, hasBegun } from '../../../../src/features/npcs/domain/state.js';
import { lastMemories } from '../../../../src/features/npcs/domain/stored-memories.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { givenOf } from '../../../support/given.js';
import {
  actorIdentified,
  contextBuilt,
  directiveGiven,
  draftOf,
  memoriesRecalled,
  turnOpened,
  verdict,
} from '../../../support/histories.js';

const given = givenOf(mindFold);
const registered = draftOf({ type: 'NpcRegistered', data: { persona: 'Calm.', data: { hp: 3, mood: { fear: 1 } } } });
const bare = draftOf({ type: 'NpcRegistered', data: {} });
const archived = draftOf({ type: 'NpcArchived', data: {} });
const changed = (patch: JsonObject): EventDraft => draftOf({ type: 'StateChanged', data: { turnId: 't1', patch } });
const expired = draftOf({ type: 'TurnExpired', data: { turnId: 't1' } });
const checked = draftOf({
  type: 'BridgeChecked',
  data: {
    mindRevision: 0,
    logic: 1,
    action: {},
    context: {},
    ruleset: null,
    valid: true,
    reason: null,
    correctedAction: null,
    code: null,
    details: {},
  },
});

const begun = draftOf({ type: 'SoulArrivalBegun', data: { soulId: 's1', importId: 'i1', memories: 1 } });
const memoryArrived = draftOf({
  type: 'MemoryArrived',
  data: {
    memoryId: 'm7',
    text: 'It snowed.',
    type: 'observation',
    importance: 0.5,
    storedAt: '2025-12-01T00:00:00.000Z',
    confirmed: true,
    source: { soulId: 's1', turnId: null, eventId: 'e7', revision: 7 },
  },
});
const arrived = draftOf({
  type: 'SoulArrived',
  data: {
    ...{ soulId: 's1', importId: 'i1', digest: 'd', copy: false, signer: 'unknown', name: 'Mira', ruleset: null },
    persona: 'An innkeeper.',
    data: { hp: 3 },
    facts: { war: true },
    chain: [],
  },
});

/** One event of every type that a mind’s stream may contain. */
const every: Record<NpcEventType, EventDraft> = {
  NpcRegistered: registered,
  NpcUpdated: draftOf({ type: 'NpcUpdated', data: { persona: 'Bold.' } }),
  RulesetBound: draftOf({ type: 'RulesetBound', data: { rulesetId: 'inn' } }),
  NpcArchived: archived,
  TurnOpened: turnOpened('t1'),
  RulesetMissing: draftOf({ type: 'RulesetMissing', data: { turnId: 't1', rulesetId: 'nowhere' } }),
  ActorIdentified: actorIdentified('t1'),
  MemoriesRecalled: memoriesRecalled('t1'),
  VerdictReached: verdict('t1', true),
  VerdictRefused: verdict('t1', false),
  StateChanged: changed({ hp: 2 }),
  FactsReported: draftOf({ type: 'FactsReported', data: { facts: { weather: 'storm' } } }),
  MemoryStored: draftOf({
    type: 'MemoryStored',
    data: { memoryId: 'm1', text: 'It rained.', type: 'observation', importance: 0.5 },
  }),
  MemoryConfirmed: draftOf({ type: 'MemoryConfirmed', data: { memoryId: 'm1' } }),
  RecallReported: draftOf({ type: 'RecallReported', data: { query: 'rain', memories: [] } }),
  MemoriesCleared: draftOf({ type: 'MemoriesCleared', data: { count: 1 } }),
  MemoriesRetracted: draftOf({ type: 'MemoriesRetracted', data: { memoryIds: ['m1'], reason: 'A lie.' } }),
  AnswerMissing: draftOf({
    type: 'AnswerMissing',
    data: { turnId: 't1', cortexId: 'openai', reason: 'It answers without a text.', attempt: 1 },
  }),
  PromptShortened: draftOf({
    type: 'PromptShortened',
    data: {
      ...{
        turnId: 't1',
        mindRevision: 0,
        logic: 4,
        budget: 900,
        cortexId: 'openai',
        reason: 'The prompt is too long.',
      },
      instruction: { type: 'ExecuteInference', prompt: 'Who are you?', constraints: {} },
    },
  }),
  TurnFailed: draftOf({
    type: 'TurnFailed',
    data: { turnId: 't1', code: 'CORTEX_NO_ANSWER', reason: 'It answers without a text.' },
  }),
  TurnExpired: expired,
  TapeMismatchNoticed: draftOf({ type: 'TapeMismatchNoticed', data: { turnId: 't1', round: 0, members: [] } }),
  DirectiveGiven: directiveGiven('d1'),
  ContextBuilt: contextBuilt('c1'),
  BridgeChecked: checked,
  SoulExportRequested: draftOf({
    type: 'SoulExportRequested',
    data: {
      soulId: 's1',
      npcState: {},
      includeMemories: true,
      uploadedBy: 'client',
      deadlineAt: '2026-01-01T01:00:00.000Z',
    },
  }),
  SoulSealed: draftOf({
    type: 'SoulSealed',
    data: { soulId: 's1', name: 'Mira', digest: 'd', root: 'r', kid: 'k', mindRevision: 0, memories: 0, bytes: 9 },
  }),
  SoulExported: draftOf({ type: 'SoulExported', data: { soulId: 's1', txId: 'd', url: 'http://test/archive/d' } }),
  SoulExportFailed: draftOf({ type: 'SoulExportFailed', data: { soulId: 's1', code: 'SOUL_TOO_LARGE', reason: '' } }),
  SoulExportExpired: draftOf({ type: 'SoulExportExpired', data: { soulId: 's1' } }),
  SoulWithdrawn: draftOf({ type: 'SoulWithdrawn', data: { soulId: 's1', txId: 'd' } }),
  SoulArrivalBegun: begun,
  MemoryArrived: memoryArrived,
  SoulArrived: arrived,
  ChainBreakRecorded: draftOf({
    type: 'ChainBreakRecorded',
    data: { revision: 0, member: 'hash', stored: 'a', computed: 'b' },
  }),
};

describe('a mind', () => {
  it('stays archived and advances its revision on an event of unknown type', () => {
    const unheardOf = { ...archived, type: 'NpcDreamt' };
    expect(given(registered, archived, unheardOf).state).toMatchObject({ archived: true, revision: 2 });
    expect(given(registered, unheardOf).state).toMatchObject({ archived: false, revision: 1 });
  });

  it('is empty before its first event, and advances with every event', () => {
    expect(initialMind.revision).toBe(-1);
    expect(given(bare, expired).state).toMatchObject({
      persona: null,
      data: null,
      archived: false,
      revision: 1,
      updatedAt: '2026-01-01T00:00:01.000Z',
    });
  });

  it('is registered with the given members, and keeps the others on an update [2.1e]', () => {
    expect(given(registered).state).toMatchObject({ persona: 'Calm.', data: { hp: 3, mood: { fear: 1 } } });
    expect(given(registered, every.NpcUpdated).state).toMatchObject({ persona: 'Bold.', data: { hp: 3 } });
    const data: NpcEvent = { type: 'NpcUpdated', data: { data: { mana: 1 } } };
    expect(given(registered, draftOf(data)).state).toMatchObject({ persona: 'Calm.', data: { mana: 1 } });
    expect(given(registered, draftOf(data)).state.data).not.toHaveProperty('hp');
  });

  it('knows the event that last changed persona, data or binding [2.1n]', () => {
    const changedAt = (...events: readonly EventDraft[]) => given(...events).state.changedAt;
    const bound = (rulesetId: string | null) => draftOf({ type: 'RulesetBound', data: { rulesetId } });
    expect(initialMind.changedAt).toBe(-1);
    expect([changedAt(bare), changedAt(every.MemoryStored), changedAt(begun)]).toEqual([0, 0, 0]);
    for (const change of [every.NpcUpdated, bound('inn'), changed({ hp: 2 }), changed({ mood: { fear: null } })])
      expect(changedAt(registered, change)).toBe(1);
    expect(changedAt(bare, actorIdentified('t1'))).toBe(1);
    expect(changedAt(bare, turnOpened('t1', { actor: { npcId: 'mira', persona: 'A.', data: {} } }))).toBe(1);
    expect(changedAt(begun, memoryArrived, arrived)).toBe(2);
    const same = { type: 'NpcUpdated', data: { persona: 'Calm.', data: { mood: { fear: 1 }, hp: 3 } } } as const;
    const none = [draftOf(same), bound(null), changed({ hp: 3, mood: { joy: null } }), actorIdentified('t1'), archived];
    for (const event of [...none, every.MemoryStored, every.VerdictReached, { ...archived, type: 'NpcDreamt' }])
      expect(changedAt(registered, event), event.type).toBe(0);
    expect(changedAt(registered, bound('inn'), changed({ hp: 3 }), bound('inn'))).toBe(1);
  });

  it('takes persona and data from its actor only while it has none [2.1g]', () => {
    const actor = { npcId: 'mira', persona: 'An innkeeper.', data: { mood: 'calm' } };
    for (const brought of [turnOpened('t1', { actor }), actorIdentified('t1')]) {
      expect(given(brought).state).toMatchObject({ persona: 'An innkeeper.', data: { mood: 'calm' } });
      expect(given(registered, brought).state).toMatchObject({ persona: 'Calm.', data: { hp: 3 } });
    }
    const personaOnly = draftOf({ type: 'NpcRegistered', data: { persona: 'Calm.' } });
    expect(given(personaOnly, actorIdentified('t1')).state).toMatchObject({ persona: 'Calm.', data: { mood: 'calm' } });
  });

  it('keeps the event of its last card, whatever else changes', () => {
    const card = (digest: string) => draftOf({ type: 'NpcUpdated', data: { card: { digest, content: {} } } });
    const renamed = draftOf({ type: 'NpcUpdated', data: { persona: 'Tired.' } });
    expect(given(registered, renamed).state.card).toBeNull();
    expect(given(registered, card('a'), card('b'), renamed, archived).state).toMatchObject({
      persona: 'Tired.',
      card: { digest: 'b', revision: 2 },
    });
  });

  it('changes its data by a merge patch, even without earlier data [2.1h]', () => {
    expect(given(registered, changed({ mood: { fear: null, joy: 2 } })).state.data).toEqual({
      hp: 3,
      mood: { joy: 2 },
    });
    expect(given(bare, changed({ hp: 1 })).state.data).toEqual({ hp: 1 });
  });

  it('changes its facts by what the game reports, and by nothing else [5.9a, 5.9i]', () => {
    const reported = (facts: JsonObject) => draftOf({ type: 'FactsReported', data: { facts } });
    const known = given(
      registered,
      reported({ war: { won: true, days: 3 }, hp: 9 }),
      reported({ war: { days: null } }),
    );
    expect(known.state).toMatchObject({ facts: { war: { won: true }, hp: 9 }, data: { hp: 3 }, changedAt: 0 });
    expect(given(registered).state.facts).toBeNull();
    const others = Object.entries(every).filter(([type]) => type !== 'FactsReported' && type !== 'SoulArrived');
    for (const [type, event] of others)
      expect(given(registered, reported({ hp: 9 }), event).state.facts, type).toEqual({ hp: 9 });
  });

  it('does not adopt data that its actor uses for one turn', () => {
    const actor = { npcId: 'mira', persona: 'An innkeeper.', data: { mood: 'calm' } };
    const brought = turnOpened('t1', { actor, actorDataKept: false });
    expect(given(brought).state).toMatchObject({ persona: 'An innkeeper.', data: null });
    expect(given(brought, actorIdentified('t1')).state.data).toEqual({ mood: 'calm' });
  });

  it('does not exist while its soul arrives, and then begins with the content of the soul', () => {
    const arriving = given(begun, memoryArrived).state;
    expect(arriving).toMatchObject({ persona: null, data: null, origin: { importId: 'i1', stored: 1, arrivedAt: -1 } });
    expect([isArriving(arriving), hasBegun(arriving)]).toEqual([true, false]);
    const { state } = given(begun, memoryArrived, arrived);
    expect(state.facts).toEqual({ war: true });
    expect(state).toMatchObject({ persona: 'An innkeeper.', data: { hp: 3 }, origin: { stored: 1, arrivedAt: 2 } });
    expect([isArriving(state), hasBegun(state)]).toEqual([false, true]);
    expect(lastMemories(state.memories)).toMatchObject([
      { memoryId: 'm7', turnId: null, revision: 1, atMs: Date.parse('2025-12-01'), confirmed: true },
    ]);
    expect(mindFold.heldFor?.(arriving)).toBe('arrival_i1');
    expect(mindFold.heldFor?.(state)).toBeNull();
  });

  const noActs = [
    ...['NpcArchived', 'BridgeChecked', 'MemoriesCleared', 'MemoriesRetracted', 'TurnExpired', 'ChainBreakRecorded'],
    ...['AnswerMissing', 'PromptShortened', 'TurnFailed'],
    'FactsReported',
    ...['SoulExportRequested', 'SoulSealed', 'SoulExported', 'SoulExportFailed', 'SoulExportExpired', 'SoulWithdrawn'],
  ];
  it.each(Object.entries(every))('is revived only by an act of its own: %s [2.1f]', (type, event) => {
    expect(given(registered, archived, event).state.archived).toBe(noActs.includes(type));
  });

  it('is not archived by an event that is not an act', () => {
    expect(given(registered, checked).state.archived).toBe(false);
    expect(given(registered, expired).state.archived).toBe(false);
  });

  it('changes only its revision on an event of unknown type', () => {
    const before = given(registered, turnOpened('t1')).state;
    for (const type of ['SomethingNew', 'constructor', '__proto__', 'toString']) {
      expect(given(registered, turnOpened('t1'), { type, data: {} }).state).toEqual({
        ...before,
        revision: 2,
        updatedAt: '2026-01-01T00:00:02.000Z',
      });
    }
  });

  it('is folded from any events in any order to the same plain JSON, without mutation', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...Object.values(every)), { maxLength: 20 }), (events) => {
        let mind = initialMind;
        const { state, events: history } = given(...events);
        for (const event of history) {
          const before = JSON.stringify(mind);
          const next = evolveMind(mind, event);
          expect(JSON.stringify(mind)).toBe(before);
          mind = next;
        }
        expect(mind).toEqual(state);
        expect(JSON.parse(JSON.stringify(mind))).toEqual(mind);
        expect(mind.revision).toBe(events.length - 1);
      }),
    );
  });
});
