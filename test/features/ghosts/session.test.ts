import { describe, expect, it } from 'vitest';

import { scriptedPolicy } from '../../../src/features/ghosts/domain/scripted.js';
import { beginSession, beginStep, playStep, settingOf } from '../../../src/features/ghosts/session.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import type { Level } from '../../../src/features/levels/domain/level.js';
import { allSlices, aRuleset } from '../../support/rules.js';
import { drawnLevel } from './domain/drawn-level.js';

const base = generateLevel('a place', 3);

/** As many things around the start as a ghost can see, all with names of this length. */
const crowded = (unit: string, length: number): Level => {
  const free = base.rows.flatMap((row, y) =>
    [...row].flatMap((sign, x) =>
      sign === '.' && Math.abs(x - base.spawn.x) + Math.abs(y - base.spawn.y) <= 5 ? [{ x, y }] : [],
    ),
  );
  const items = Array.from({ length: 40 }, (_, item) => ({
    ...{ id: `${unit.repeat(length)}${String(item)}`, at: free[item % free.length] ?? base.spawn },
    ...{ opens: [], heals: 0, consumed: false },
  }));
  return { ...base, items };
};

describe('a step of a session', () => {
  it('includes a turn of the NPC that the ghost speaks to, whose line it hears in the next one [9.8j, 9.8p]', () => {
    const level = drawnLevel(['@N']);
    const policy = scriptedPolicy(
      ['SPEAK', 'IDLE'].map((type) => ({
        text: JSON.stringify({ dialogue: 'Hello!', action: { type, target: 'npc1' } }),
      })),
    );
    const setting = { level, policy, briefedOn: null, goal: 'find_bugs', seed: 0, steps: 2 } as const;
    const spoken = allSlices(playStep(setting, beginSession(setting), policy)).result;
    const { turns, action } = spoken.record;
    expect([turns.map(({ npcId }) => npcId), action?.type]).toEqual([['ghost', 'npc1'], 'SPEAK']);
    for (const { events } of turns) expect(events.map(({ type }) => type)).toContain('VerdictReached');
    expect(turns[1]?.events.find(({ type }) => type === 'VerdictReached')?.data['generatedOutput']).toBe('Halt!');
    const next = allSlices(playStep(setting, spoken.state, policy)).result.record;
    expect(next.turns.map(({ npcId }) => npcId)).toEqual(['ghost']);
    expect(next.turns[0]?.events[0]?.data['observation']).toContain('npc1 says: Halt!');
  });

  it('changes nothing in the world if the verdict is not valid [9.8j]', () => {
    const level = { ...drawnLevel(['@.']), ruleset: aRuleset([{ ruleAction: 'FORBID MOVE' }]) };
    const policy = scriptedPolicy([{ text: '{"action": {"type": "MOVE", "target": "east"}}' }]);
    const setting = { level, policy, briefedOn: null, goal: 'find_bugs', seed: 0, steps: 1 } as const;
    const { record, state } = allSlices(playStep(setting, beginSession(setting), policy)).result;
    expect([record.action, record.outcome, state.world.at]).toEqual([null, null, level.spawn]);
  });
});

describe('the prompt of a ghost that an engine plays', () => {
  it.each([
    ['a', 124],
    ['夢', 60],
    ['夢', 100],
  ])('contains its surroundings even if many things have names like %s, %i times', (unit, length) => {
    const level = crowded(unit, length);
    const setting = settingOf(level, { goal: 'complete_level', seed: 1, steps: 10, engine: 'fake' });
    const { asked } = allSlices(beginStep(setting, beginSession(setting))).result;
    expect(asked.prompt).toMatch(/"surroundings":\{"rows":\[.*\],"ways":\[.*\]\}/);
  });
});
