import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { ProcessRepository } from '../../../src/kernel/processes/process-repository.js';
import { readTurn, type TurnView } from '../../../src/features/turns/turn-view.js';
import { makeTurnId } from '../../../src/features/turns/domain/turn-id.js';
import type { TurnKind } from '../../../src/features/npcs/domain/events.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import {
  actorIdentified,
  contextBuilt,
  directiveGiven,
  draftOf,
  memoriesRecalled,
  storeOf,
  turnOpened,
  verdict,
} from '../../support/histories.js';

const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
const idOf = (kind: TurnKind, revision = 0): string => makeTurnId(kind, revision, 0, 'command');

/** Reads a turn from a stream that holds only these events, one second apart. */
const view = async (turnId: string, ...events: readonly EventDraft[]): Promise<TurnView> => {
  const stream = npcStream('studio', 'mira');
  const events_ = events.map((event) => ({ tenant: 'studio', stream, event }));
  const store = await storeOf(events_, new MemoryEventStore());
  return readTurn({ events: store, repository: new ProcessRepository(store) }, 'studio', 'mira', turnId);
};

const process = idOf('process');
const whole = [turnOpened(process), actorIdentified(process), memoriesRecalled(process)];

describe('a turn of the protocol', () => {
  it('is shown with each of its rounds [10.1j]', async () => {
    const shown = await view(process, ...whole, verdict(process, false));
    expect(shown).toMatchObject({
      turnId: process,
      npcId: 'mira',
      kind: 'process',
      state: 'ended',
      openedAt: at(0),
      deadlineAt: '2026-01-01T00:15:00.000Z',
      endedAt: at(3),
      ruleset: null,
      observation: 'A stranger comes in.',
      rounds: [
        { round: 0, revision: 0, at: at(0), result: null, instruction: { type: 'IdentifyActor' } },
        { round: 1, revision: 1, result: { type: 'IdentifyActorResult' }, instruction: { type: 'QueryVector' } },
        { round: 2, revision: 2, result: { type: 'QueryVectorResult' }, instruction: { type: 'ExecuteInference' } },
        {
          round: 3,
          revision: 3,
          at: at(3),
          result: { type: 'ExecuteInferenceResult', generatedOutput: 'Three coins.' },
          instruction: { type: 'Finalize' },
        },
      ],
      verdict: { generatedOutput: 'Three coins.', verdict: { valid: false }, grounds: { rules: [], checks: [] } },
    });
    expect(shown.verdict).not.toHaveProperty('signing');
    expect(shown).not.toHaveProperty('resumedFrom');
  });

  it('is shown with the signed content when the verdict is valid', async () => {
    const reached = verdict(process, true);
    const signed = { ...reached, data: { ...reached.data, kid: 'key-1', iss: 'http://test' } };
    expect((await view(process, ...whole, signed)).verdict?.signing).toEqual({
      revision: 3,
      at: at(3),
      kid: 'key-1',
      iss: 'http://test',
      ruleset: null,
    });
  });

  it('is shown up to its current state, and without a verdict, when it is open or expired [10.1j]', async () => {
    const open = await view(process, turnOpened(process, { resumedFrom: 't0' }));
    expect(open).toMatchObject({ state: 'awaitingActor', resumedFrom: 't0', verdict: null });
    expect(open).not.toHaveProperty('endedAt');
    const gone = draftOf({ type: 'TurnExpired', data: { turnId: process } });
    expect(await view(process, ...whole.slice(0, 2), gone)).toMatchObject({
      state: 'expired',
      endedAt: at(2),
      rounds: [{ round: 0 }, { round: 1 }],
      verdict: null,
    });
  });
});

describe('an act of a compatibility route', () => {
  const single = { npcId: 'mira', state: 'ended', openedAt: at(1), deadlineAt: at(1), endedAt: at(1) };
  const before = draftOf({ type: 'NpcRegistered', data: {} });

  it.each([
    [
      'directive',
      directiveGiven,
      null,
      { result: null, instruction: { type: 'QueryVector', query: '', limit: 5, threshold: 0.5 } },
    ],
    [
      'context',
      contextBuilt,
      { rulesetId: 'inn', version: 1 },
      {
        result: { type: 'QueryVectorResult', memories: [] },
        instruction: { type: 'ExecuteInference', prompt: '', constraints: {} },
      },
    ],
  ] as const)(
    'of kind %s is a turn of one round without a verdict [2.7d, 10.1j]',
    async (kind, act, ruleset, round) => {
      const turnId = idOf(kind);
      expect(await view(turnId, before, act(turnId))).toEqual({
        ...single,
        turnId,
        kind,
        ruleset,
        observation: '',
        rounds: [{ round: 0, revision: 1, at: at(1), ...round }],
        verdict: null,
      });
    },
  );

  it.each([true, false])(
    'of kind verdict is a turn of one round with its verdict (valid: %s) [2.7d, 10.1j]',
    async (valid) => {
      const turnId = idOf('verdict');
      expect(await view(turnId, before, verdict(turnId, valid, true))).toMatchObject({
        ...single,
        turnId,
        kind: 'verdict',
        ruleset: { rulesetId: 'inn', version: 2 },
        rounds: [{ round: 0, result: { generatedOutput: 'Three coins.' }, instruction: { type: 'Finalize' } }],
        verdict: { generatedOutput: 'Three coins.', verdict: { valid } },
      });
    },
  );

  it('is found after the note that its ruleset was missing', async () => {
    const turnId = idOf('directive');
    const missing = draftOf({ type: 'RulesetMissing', data: { turnId, rulesetId: 'nowhere' } });
    expect((await view(turnId, missing, directiveGiven(turnId))).kind).toBe('directive');
  });
});

describe('an unknown turn', () => {
  it.each([
    ['of the protocol', idOf('process', 1)],
    ['of a compatibility route', idOf('verdict', 1)],
    ['under a made-up id', 'made-up'],
    ['under an id of a future revision', idOf('directive', 5_000)],
  ])('%s is refused as not found', async (_, turnId) => {
    await expect(view(turnId, turnOpened(process))).rejects.toMatchObject({
      code: 'TURN_NOT_FOUND',
      details: { npcId: 'mira', turnId },
    });
  });
});
