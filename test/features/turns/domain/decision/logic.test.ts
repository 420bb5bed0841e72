import type { EventDraft } from '../../../../../src/kernel/base/event-draft.js';
import { afterEach, describe, expect, it } from 'vitest';

import { actContext, actDirective, actVerdict } from '../../../../../src/features/turns/act.js';
import { openRulesets } from '../../../../../src/features/rules/rulesets.js';
import { checkOfMind } from '../../../../../src/features/turns/domain/decision/bridge-checked.js';
import { CURRENT_LOGIC, type Logic, logicOf, logics } from '../../../../../src/features/turns/domain/decision/logic.js';
import { initialMind } from '../../../../../src/features/npcs/domain/state.js';
import type { TurnFacts } from '../../../../../src/features/turns/domain/decision/turn-facts.js';
import type { TurnInput } from '../../../../../workflows/turn/turn-state.js';
import { turn } from '../../../../../workflows/turn/turn.js';
import { givenOf, inTable } from '../../../../support/given.js';
import { memoriesRecalled, turnOpened } from '../../../../support/histories.js';
import { generated, identified, openMinds, recalled, tapeOf } from '../../../../support/minds.js';
import { onBehalf } from '../../../../support/streams.js';

const DECIDING = [
  'TurnOpened',
  'ActorIdentified',
  'MemoriesRecalled',
  'VerdictReached',
  'VerdictRefused',
  'DirectiveGiven',
  'ContextBuilt',
];
const facts: TurnFacts = {
  npcId: 'mira',
  mind: { persona: null, data: null, facts: {}, revision: 0 },
  ruleset: null,
  rulesetRef: null,
  issuer: { kid: 'kid', iss: 'http://test' },
};

describe('every event of a decision', () => {
  it('names the decision logic [10.8a]', async () => {
    await using minds = await openMinds();
    await minds.step(tapeOf());
    for (const result of [identified, recalled, generated]) await minds.step(tapeOf(), result);
    const { writers } = minds.deps;
    const issuer = () => facts.issuer;
    const ports = { events: minds.store, clock: minds.clock };
    const deps = { ports, writers, rulesets: openRulesets(writers, minds.store), issuer };
    const asked = (id: string) => ({
      npcId: 'mira',
      observation: 'x',
      context: {},
      npcState: {},
      by: { ...onBehalf(id), tenant: 'studio', resumed: false },
    });
    await actDirective(deps, asked('a'));
    await actContext(deps, { ...asked('b'), memories: [] });
    await actVerdict(deps, { ...asked('c'), generatedOutput: 'Hi.' });
    await actVerdict(deps, { ...asked('d'), generatedOutput: '{"stateDelta": 5}' });
    const deciding = (await minds.events()).filter(({ type }) => DECIDING.includes(type));
    expect(new Set(deciding.map(({ type }) => type))).toEqual(new Set(DECIDING));
    for (const { data } of deciding) expect(data).toMatchObject({ logic: CURRENT_LOGIC });
    const [checked] = checkOfMind(
      { ...initialMind, revision: 3 },
      { action: 'WAVE', context: {}, chosen: { ruleset: null, used: null }, patternsHeld: [] },
    );
    expect(checked).toMatchObject({ type: 'BridgeChecked', data: { mindRevision: 3, logic: CURRENT_LOGIC } });
  });
});

describe('the table of decision logics', () => {
  const given = givenOf(turn);
  const table = logics as Record<number, Logic>;
  afterEach(() => {
    delete table[99];
  });

  it('contains every number up to the current one', () => {
    expect(CURRENT_LOGIC).toBeGreaterThanOrEqual(1);
    for (let number = 1; number <= CURRENT_LOGIC; number += 1) expect(logicOf(number)).toBe(logics[number]);
    expect(Object.keys(logics)).toHaveLength(CURRENT_LOGIC);
  });

  it('refuses an unknown number, and reports that a retry makes sense [10.8b]', () => {
    expect(() => logicOf(CURRENT_LOGIC + 1)).toThrow(
      expect.objectContaining({ code: 'LOGIC_UNKNOWN', retryAfter: 1, details: { logic: CURRENT_LOGIC + 1 } }),
    );
    const actor = { npcId: 'mira', persona: null, data: {} };
    given(turnOpened('t1', { logic: 99 }))
      .when(inTable(turn), { type: 'actor', actor }, facts)
      .then('LOGIC_UNKNOWN', { logic: 99 });
  });

  it('is used with the number of a turn’s opening until its end', () => {
    table[99] = {
      ...logicOf(CURRENT_LOGIC),
      giveDirective: () => ({
        memoryRecall: { query: 'as 99 asks', limit: 1, threshold: 0 },
        trace: { rules: [], seen: [] },
      }),
      buildPrompt: () => ({
        chat: [],
        isShortened: false,
        leftOut: [],
        parts: [],
        prompt: 'as 99 prompts',
        constraints: {},
        ctxMessages: null,
        trace: { rules: [], seen: [] },
      }),
      reachVerdict: (input) => logicOf(CURRENT_LOGIC).reachVerdict(input, 'as 99 decides'),
    };
    const actor = { npcId: 'mira', persona: null, data: {} };
    const identified = { type: 'ActorIdentified', data: { turnId: 't1', actor, instruction: {} } };
    const emitted = (before: readonly EventDraft[], input: TurnInput) =>
      given(turnOpened('t1', { logic: 99 }), ...before).when(inTable(turn), input, facts).events?.[0]?.data;
    expect(emitted([], { type: 'actor', actor })).toMatchObject({
      logic: 99,
      instruction: { query: 'as 99 asks' },
    });
    expect(emitted([identified], { type: 'memories', memories: [] })).toMatchObject({
      logic: 99,
      instruction: { prompt: 'as 99 prompts' },
    });
    const last = [identified, memoriesRecalled('t1')];
    expect(emitted(last, { type: 'output', generatedOutput: 'Hi.' })).toMatchObject({
      logic: 99,
      verdict: { dialogue: 'as 99 decides' },
    });
  });

  it('reads the text of a turn that was opened under an older logic as that logic did', () => {
    const text = '<think>I lit it.</think>The mill burned down.';
    const said = (logic: number) => {
      const before = [
        {
          type: 'ActorIdentified',
          data: { turnId: 't1', actor: { npcId: 'mira', persona: null, data: {} }, instruction: {} },
        },
        memoriesRecalled('t1'),
      ];
      const { events } = given(turnOpened('t1', { logic }), ...before).when(
        inTable(turn),
        { type: 'output', generatedOutput: text },
        facts,
      );
      return (events?.[0]?.data['verdict'] as { dialogue: string }).dialogue;
    };
    expect([1, 2, 3].map(said)).toEqual([text, text, 'The mill burned down.']);
  });
});
