import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import fc from 'fast-check';

import { defined } from '../../src/kernel/base/defined.js';
import { MemoryEventStore } from './memory/event-store.js';
import type { NpcEvent } from '../../src/features/npcs/domain/events.js';
import type { LevelEvent } from '../../src/features/levels/domain/events.js';
import type { RulesetEvent } from '../../src/features/rules/domain/events.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import { levelPut } from '../features/levels/domain/events.js';
import { levelStream, npcStream, rulesetStream } from '../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { event } from './events.js';
import { appendNext } from './append-next.js';

/** The compiler cannot see that events of these types are JSON. */
export const draftOf = (of: NpcEvent | RulesetEvent | LevelEvent): EventDraft => of as unknown as EventDraft;

const START_MS = 1_767_225_600_000;
const DEADLINE = '2026-01-01T00:15:00.000Z';

/** Recorded events of one stream from revision `first` on, a second apart, as if the store held nothing else. */
export const recorded = (stream: string, drafts: readonly EventDraft[], first = 0): readonly RecordedEvent[] =>
  drafts.map(({ type, data }, index) => {
    const revision = first + index;
    const at = new Date(START_MS + 1_000 * revision).toISOString();
    const drawn = event(`${stream}-${revision}`, { type, data, meta: { tenant: 'studio', at } });
    return { ...drawn, stream, revision, position: revision + 1 };
  });

/** The opening of a turn, which waits for an actor unless `of` overrides it. */
export const turnOpened = (
  turnId: string,
  of: Partial<Extract<NpcEvent, { type: 'TurnOpened' }>['data']> = {},
): EventDraft =>
  draftOf({
    type: 'TurnOpened',
    data: {
      turnId,
      mindRevision: -1,
      logic: 1,
      observation: 'A stranger comes in.',
      context: {},
      npcState: {},
      ruleset: null,
      deadlineAt: DEADLINE,
      instruction: { type: 'IdentifyActor' },
      ...of,
    },
  });

export const actorIdentified = (turnId: string, npcId = 'mira'): EventDraft =>
  draftOf({
    type: 'ActorIdentified',
    data: {
      turnId,
      mindRevision: 0,
      logic: 1,
      actor: { npcId, persona: 'An innkeeper.', data: { mood: 'calm' } },
      instruction: { type: 'QueryVector', query: 'stranger', limit: 5, threshold: 0.5 },
    },
  });

export const memoriesRecalled = (turnId: string): EventDraft =>
  draftOf({
    type: 'MemoriesRecalled',
    data: {
      turnId,
      mindRevision: 0,
      logic: 1,
      memories: [],
      instruction: { type: 'ExecuteInference', prompt: 'Speak.', constraints: {} },
    },
  });

/** A verdict of a process turn, or (with `asked`) one that was requested directly. */
export const verdict = (turnId: string, valid: boolean, asked = false): EventDraft =>
  draftOf({
    type: valid ? 'VerdictReached' : 'VerdictRefused',
    data: {
      turnId,
      mindRevision: 0,
      logic: 1,
      generatedOutput: 'Three coins.',
      verdict: { valid, dialogue: 'Three coins.', action: null, stateDelta: {}, memoryStore: [] },
      grounds: { rules: [], seen: [], checks: [] },
      ...(asked ? { asked: { observation: '', npcState: {}, ruleset: { rulesetId: 'inn', version: 2 } } } : {}),
    },
  });

export const memoryStored = (
  memoryId: string,
  text = 'It rained.',
  turnId?: string,
  player?: { readonly id: string; readonly from: 'body' | 'context' },
): EventDraft =>
  draftOf({
    type: 'MemoryStored',
    data: { memoryId, text, type: 'observation', importance: 0.5, ...defined({ turnId, player }) },
  });

export const directiveGiven = (turnId: string): EventDraft =>
  draftOf({
    type: 'DirectiveGiven',
    data: {
      turnId,
      mindRevision: -1,
      logic: 1,
      observation: '',
      context: {},
      npcState: {},
      ruleset: null,
      memoryRecall: { query: '', limit: 5, threshold: 0.5 },
      rules: [],
      seen: [],
    },
  });

export const contextBuilt = (turnId: string): EventDraft =>
  draftOf({
    type: 'ContextBuilt',
    data: {
      turnId,
      mindRevision: -1,
      logic: 1,
      observation: '',
      npcState: {},
      memories: [],
      ruleset: { rulesetId: 'inn', version: 1 },
      prompt: '',
      constraints: {},
      ctxMessages: null,
      rules: [],
      seen: [],
    },
  });

export const rulesetRegistered = (rulesetId: string, version: number): EventDraft =>
  draftOf({ type: 'RulesetRegistered', data: { rulesetId, version, rulesetRules: [], template: null } });

const turnId = fc.constantFrom('t1', 't2', 't3');
const mindEvent: fc.Arbitrary<EventDraft> = fc.oneof(
  turnId.map((id) => turnOpened(id)),
  turnId.map((id) => actorIdentified(id)),
  turnId.map((id) => memoriesRecalled(id)),
  fc.tuple(turnId, fc.boolean(), fc.boolean()).map(([id, valid, asked]) => verdict(id, valid, asked)),
  turnId.map((id) => draftOf({ type: 'TurnExpired', data: { turnId: id } })),
  turnId.map((id) => directiveGiven(id)),
  turnId.map((id) => contextBuilt(id)),
  fc
    .dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((patch) => draftOf({ type: 'StateChanged', data: { turnId: 't1', patch: patch as JsonObject } })),
  fc
    .tuple(fc.constantFrom('m1', 'm2'), fc.string(), turnId)
    .map(([memoryId, text, id]) => memoryStored(memoryId, text, id)),
  fc.constantFrom('m1', 'm2').map((memoryId) => draftOf({ type: 'MemoryConfirmed', data: { memoryId } })),
  fc.constant(draftOf({ type: 'MemoriesCleared', data: { count: 1 } })),
  fc
    .constantFrom('m1', 'm2')
    .map((memoryId) =>
      draftOf({ type: 'MemoriesRetracted', data: { memoryIds: [memoryId, memoryId], reason: 'A lie.' } }),
    ),
  fc.string().map((persona) => draftOf({ type: 'NpcUpdated', data: { persona } })),
  fc.constant(draftOf({ type: 'NpcArchived', data: {} })),
  fc.constant({ type: 'OfAnotherTime', data: {} }),
);
const rulesetEvent: fc.Arbitrary<EventDraft> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((version) => rulesetRegistered('inn', version)),
  fc.constant(draftOf({ type: 'RulesetDeleted', data: { rulesetId: 'inn' } })),
);

const levelEvent: fc.Arbitrary<EventDraft> = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((version) => draftOf(levelPut(version, `map ${version}`))),
  fc.constant(draftOf({ type: 'LevelDeleted', data: { levelId: 'inn' } })),
);

const tenants = ['studio', 'other'] as const;
const minds = tenants.flatMap((tenant) =>
  ['mira', 'a b/ü'].map((npcId) => ({ tenant, stream: npcStream(tenant, npcId) })),
);
const rulesets = tenants.map((tenant) => ({ tenant, stream: rulesetStream(tenant, 'inn') }));
const levels = tenants.map((tenant) => ({ tenant, stream: levelStream(tenant, 'inn') }));

/** Every stream that `history` writes, and every tenant. */
export const historyStreams: readonly string[] = [...minds, ...rulesets, ...levels].map(({ stream }) => stream);
export const historyTenants: readonly string[] = tenants;

type Written = { readonly tenant: string; readonly stream: string; readonly event: EventDraft };

/** What minds, rulesets and levels of two studios may go through, in any order, including histories that no decider would write. */
export const history: fc.Arbitrary<readonly Written[]> = fc.array(
  fc
    .oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...minds), mindEvent) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...rulesets), rulesetEvent) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...levels), levelEvent) },
    )
    .map(([where, event]) => ({ ...where, event })),
  { minLength: 1, maxLength: 60 },
);

/** A store that holds a history. */
export const storeOf = async (
  written: readonly Written[],
  store = new MemoryEventStore(),
): Promise<MemoryEventStore> => {
  const before = await store.lastPosition();
  for (const [
    index,
    {
      tenant,
      stream,
      event: { type, data },
    },
  ] of written.entries()) {
    const at = new Date(START_MS + 1_000 * index).toISOString();
    await appendNext(store, stream, [event(`${before}-${index}`, { type, data, meta: { tenant, at } })]);
  }
  return store;
};
