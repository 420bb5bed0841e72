import { describe, expect, it } from 'vitest';

import { scriptedPolicy } from '../../../src/features/ghosts/domain/scripted.js';
import { worldFactsOf } from '../../../src/features/ghosts/domain/world-facts.js';
import { beginWorld } from '../../../src/features/ghosts/domain/world.js';
import {
  beginSession,
  playStep,
  replayStep,
  type SessionState,
  type TakenStep,
} from '../../../src/features/ghosts/session.js';
import type { Level } from '../../../src/features/levels/domain/level.js';
import type { DirectiveRuleSet } from '../../../src/features/rules/domain/ruleset.js';
import { jsonBytes } from '../../../src/kernel/base/json.js';
import { allSlices, aRuleset } from '../../support/rules.js';
import { drawnLevel } from './domain/drawn-level.js';

/** Only who has opened the door may walk. */
const walkRules: DirectiveRuleSet = {
  ...aRuleset([
    { drRuleId: 'opened', ruleCondition: [['facts.world.opened', 'door1']], ruleAction: 'ALLOW MOVE', rulePriority: 2 },
    { drRuleId: 'shut', ruleAction: 'FORBID MOVE', rulePriority: 1 },
  ]),
  grammar: 2,
};
/** The guard does not speak of an open door. */
const guardRules: DirectiveRuleSet = {
  ...aRuleset([{ drRuleId: 'hush', ruleCondition: [['facts.world.opened', 'door1']], ruleAction: 'FORBID SPEAK' }]),
  grammar: 2,
};

const withGuard = (level: Level, ruleset: DirectiveRuleSet | null): Level => ({
  ...level,
  npcs: level.npcs.map((npc) => ({ ...npc, ruleset })),
});

const act = (type: string, target: string): string => JSON.stringify({ dialogue: 'Hm.', action: { type, target } });

/** Plays these texts. Each step begins with the state as a checkpoint keeps it. */
const play = (level: Level, texts: readonly string[]) => {
  const policy = scriptedPolicy(texts.map((text) => ({ text })));
  const setting = { level, policy, briefedOn: null, goal: 'find_bugs', seed: 0, steps: texts.length } as const;
  const taken: TakenStep[] = [];
  let state: SessionState = beginSession(setting);
  for (const _ of texts) {
    const step = allSlices(playStep(setting, JSON.parse(JSON.stringify(state)) as SessionState, policy)).result;
    taken.push(step);
    ({ state } = step);
  }
  return { setting, taken };
};

/** What each turn of a step was told, by mind. */
const told = ({ record }: TakenStep) =>
  record.turns.map(({ npcId, events }) => [
    npcId,
    events.flatMap(({ type, data }) => (type === 'FactsReported' ? [data['facts']] : [])),
  ]);
const isValid = ({ record }: TakenStep): boolean => record.action !== null;

const level = withGuard({ ...drawnLevel(['N@+.G']), ruleset: walkRules }, guardRules);
const texts = [
  act('MOVE', 'east'),
  act('SPEAK', 'npc1'),
  act('INTERACT', 'door1'),
  act('MOVE', 'east'),
  act('MOVE', 'west'),
  act('SPEAK', 'npc1'),
  act('SPEAK', 'npc1'),
];
const opened = { world: { opened: ['door1'] } };

describe('the minds of a session', () => {
  it('are told what has changed in their world, once, and decide by it [9.8w]', () => {
    const { taken } = play(level, texts);
    expect(taken.map(isValid)).toEqual([false, true, true, true, true, true, true]);
    expect(taken.map(told)).toEqual([
      [['ghost', []]],
      [
        ['ghost', []],
        ['npc1', []],
      ],
      [['ghost', []]],
      [['ghost', [opened]]],
      [['ghost', []]],
      [
        ['ghost', []],
        ['npc1', [opened]],
      ],
      [
        ['ghost', []],
        ['npc1', []],
      ],
    ]);
    const answers = taken.flatMap(({ record }) =>
      record.turns.filter(({ npcId }) => npcId === 'npc1').map(({ events }) => events.map(({ type }) => type)),
    );
    expect(answers.map((types) => types.includes('VerdictRefused'))).toEqual([false, true, true]);
    // The report precedes the turn.
    expect(answers[1]?.slice(0, 2)).toEqual(['FactsReported', 'TurnOpened']);
  });

  it('continue from their record with the same facts, and are told nothing twice [9.8w, 9.8i]', () => {
    const { setting, taken } = play(level, texts);
    let state = beginSession(setting);
    for (const step of taken) {
      state = replayStep(setting, state, step.record);
      expect(state).toEqual(step.state);
    }
    expect(state.ghost.facts).toEqual(opened);
    expect(state.npcs['npc1']?.mind.facts).toEqual(opened);
  });

  it.each([
    ['no rules', null],
    [
      'rules of grammar 1',
      aRuleset([{ ruleCondition: [['facts.world.opened', 'door1']], ruleAction: 'FORBID SPEAK' }]),
    ],
  ])('are told nothing that they cannot read: %s [9.8w]', (_, ruleset) => {
    const { taken } = play(withGuard({ ...level, ruleset }, ruleset), texts.slice(1, 4));
    expect(taken.flatMap(told).flatMap(([, facts]) => facts)).toEqual([]);
  });
});

describe('the facts of a world', () => {
  it('are the names of what has happened to its things [9.8w]', () => {
    const things = drawnLevel(['@A+abhGN']);
    const world = { ...beginWorld(things), opened: [1], held: [2, 0], spent: [1], reached: [0], hits: [3] };
    expect(worldFactsOf(things, world)).toEqual({
      ...{ opened: ['door1'], held: ['h1', 'a1'], spent: ['b1'], reached: ['goal1'], noticed: [], beaten: ['npc1'] },
    });
  });

  it('are lists of the newest names, of bounded size [9.8w]', () => {
    const base = drawnLevel(['@+']);
    const doors = Array.from({ length: 1_000 }, (_, door) => ({
      id: `door ${String(door)}`,
      at: base.spawn,
      locked: false,
    }));
    const { opened: names = [] } = worldFactsOf(
      { ...base, doors },
      { ...beginWorld(base), opened: doors.map((_, door) => door) },
    );
    expect(names.at(-1)).toBe('door 999');
    expect(names.length).toBeGreaterThan(20);
    expect(jsonBytes(names)).toBeLessThanOrEqual(400);
  });
});
