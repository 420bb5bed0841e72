import { describe, expect, it } from 'vitest';

import { afterTurn, beginSessionMind, GHOST_MEMORIES } from '../../../src/features/ghosts/session-mind.js';
import {
  beginSessionTurn,
  playSessionTurn,
  protocolViolations,
  type SpokenText,
  type TurnToBegin,
} from '../../../src/features/ghosts/session-turn.js';
import type { ProtocolProbe } from '../../../src/features/ghosts/domain/policy.js';
import { defined } from '../../../src/kernel/base/defined.js';
import { aRuleset } from '../../support/rules.js';

const asked: TurnToBegin & SpokenText = {
  npcId: 'ghost',
  turnId: 'g1',
  report: [],
  mind: beginSessionMind('A ghost.'),
  persona: 'A ghost.',
  ruleset: null,
  observation: 'You see a door.',
  context: {},
  npcState: { hp: 10 },
  text: '{"dialogue": "Open up!", "action": {"type": "INTERACT", "target": "door"}, "stateDelta": {"knocked": true}}',
};
const ended = <Result>(work: Generator<number, Result, void>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
const play = (changes: Partial<TurnToBegin & SpokenText> = {}) => {
  const { text, probe, ...toBegin } = { ...asked, ...changes };
  return ended(playSessionTurn(toBegin, { text, ...defined({ probe }) }));
};
const types = ({ played }: ReturnType<typeof play>): readonly string[] => played.events.map(({ type }) => type);

describe('a turn of a session', () => {
  it('plays every round, and records nothing that can be derived [9.8j, 9.9m]', () => {
    const turn = play();
    expect(types(turn)).toEqual([
      ...['TurnOpened', 'ActorIdentified', 'MemoriesRecalled', 'VerdictReached', 'StateChanged', 'MemoryStored'],
    ]);
    for (const { data } of turn.played.events) expect(data).not.toHaveProperty('instruction');
    expect(turn.verdict).toMatchObject({ valid: true, action: { type: 'INTERACT', target: 'door' } });
    expect(turn.broken).toBeNull();
  });

  it('asks for a text with everything that a model needs, and ends as if the text had been known in advance', () => {
    const mind = afterTurn(asked.mind, play().played, GHOST_MEMORIES);
    const { text, ...toBegin } = { ...asked, mind, turnId: 'g2' };
    const begun = ended(beginSessionTurn(toBegin));
    expect(begun.asked.prompt).toMatch(
      /"A ghost\."[^]*"hp":10[^]*What you remember:\n- "You see a door\."[^]*You see a door/,
    );
    expect(begun.asked.constraints).toMatchObject({ maxTokens: expect.any(Number) as number });
    expect(begun.finish({ text })).toEqual(play({ mind, turnId: 'g2' }));
  });

  it('obeys the rules of its mind, and names the rules that matched', () => {
    const ruleset = aRuleset([{ drRuleId: 'hands off', ruleCondition: [['hp', '>5']], ruleAction: 'FORBID INTERACT' }]);
    const { verdict, grounds } = play({ ruleset });
    expect(verdict).toMatchObject({ valid: false, code: 'RULE_REFUSED' });
    expect(grounds.rules).toMatchObject([{ drRuleId: 'hands off', matched: true }]);
  });

  it('changes only its own mind, which remembers and recalls it', () => {
    const mind = afterTurn(asked.mind, play().played, GHOST_MEMORIES);
    expect(mind).toMatchObject({ data: { knocked: true }, memories: [{ text: 'You see a door.' }] });
    const recalled = play({ mind, turnId: 'g2' }).played.events.find(({ type }) => type === 'MemoriesRecalled');
    expect(recalled?.data).toMatchObject({ memories: [{ text: 'You see a door.' }] });
    expect(asked.mind.memories).toEqual([]);
  });

  it('keeps the newest memories', () => {
    let mind = asked.mind;
    for (let step = 0; step < 5; step += 1)
      mind = afterTurn(mind, play({ mind, observation: `Step ${String(step)}.` }).played, 3);
    expect(mind.memories.map(({ text }) => text)).toEqual(['Step 2.', 'Step 3.', 'Step 4.']);
  });

  it.each<[ProtocolProbe, string[]]>([
    ['repeat_step', []],
    ['stale_step', []],
    ['contradicting_tape', ['TapeMismatchNoticed']],
  ])('lasts while the session tries %s', (probe, more) => {
    const turn = play({ probe });
    expect(turn.broken).toBeNull();
    expect([...types(turn)].sort()).toEqual([...types(play()), ...more].sort());
  });
});

describe('the violations of the protocol', () => {
  // They are the subjects of findings in recorded sessions and reproductions: a reworded one would be a new finding.
  it('keep their texts', () => {
    expect(protocolViolations).toEqual({
      staleStep: 'A result for an earlier round was recorded again.',
      contradictingTape: 'A contradiction was not noticed exactly once.',
      repeatedStep: 'A repeated result was recorded twice.',
    });
  });
});
