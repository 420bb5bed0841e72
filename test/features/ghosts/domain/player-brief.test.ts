import { describe, expect, it } from 'vitest';

import { buildPrompt } from '../../../../src/features/turns/domain/decision/prompt.js';
import { act } from '../../../../src/features/ghosts/domain/act.js';
import { playerBrief, surroundingsOf } from '../../../../src/features/ghosts/domain/player-brief.js';
import { ghostGoals } from '../../../../src/features/ghosts/domain/policy.js';
import { beginWorld, SIGHT_TILES } from '../../../../src/features/ghosts/domain/world.js';
import { templates } from '../../../../src/features/rules/domain/ruleset.js';
import { anInput, aRuleset } from '../../../support/rules.js';
import { drawnLevel } from './drawn-level.js';

const level = drawnLevel(['@.#', '+.#', '..G'], { persona: 'A thief on the run.' });

describe('the brief of an engine that plays a ghost', () => {
  it('contains the task, the actions of the world and the persona [9.8q]', () => {
    const briefs = ghostGoals.map((goal) => playerBrief(level, goal));
    expect(new Set(briefs).size).toBe(ghostGoals.length);
    for (const brief of briefs) {
      expect(brief).toMatch(/In this level you are: A thief on the run\.$/);
      for (const type of ['MOVE', 'INTERACT', 'USE', 'SPEAK', 'ATTACK', 'IDLE']) expect(brief).toContain(type);
      // In a prompt, the form of an answer is a type and a target.
      expect(brief).not.toMatch(/payload/);
    }
  });

  it('fits completely into a prompt, whatever persona the level gives', () => {
    const persona = playerBrief({ ...level, persona: 'x'.repeat(20_000) }, 'find_bugs');
    const { prompt } = buildPrompt(anInput({ persona }));
    expect(prompt).toContain(playerBrief({ ...level, persona: '' }, 'find_bugs'));
  });

  it('names actions that the world accepts as they are described [9.8r]', () => {
    const keyed = drawnLevel(['@ah', 'N+.', 'A..']);
    const done = (...actions: object[]) =>
      actions.reduce<ReturnType<typeof act>>(
        ({ world }, action) => act(keyed, world, action as Parameters<typeof act>[2]),
        { world: { ...beginWorld(keyed), hp: 3 }, outcome: { ok: true, happened: [] } },
      ).outcome;
    const ways = ['east', 'East', '1,0', '1, 0', '(1, 0)'];
    for (const target of ways) expect(done({ type: 'MOVE', target })).toMatchObject({ ok: true });
    const takesKey = { type: 'INTERACT', target: 'a1' };
    expect(done(takesKey)).toMatchObject({ ok: true });
    expect(done({ type: 'SPEAK', target: 'npc1' })).toMatchObject({ ok: true, heardBy: 'npc1' });
    expect(done({ type: 'ATTACK', target: 'npc1' })).toMatchObject({ ok: true });
    expect(done({ type: 'MOVE', target: 'east' }, { type: 'INTERACT', target: 'door1' })).toMatchObject({ ok: true });
    const south = { type: 'MOVE', target: 'south' };
    const opens = { type: 'USE', target: 'A1' };
    expect(done(takesKey, south, opens, south)).toMatchObject({ ok: true });
    expect(done(south, opens)).toMatchObject({ ok: false, code: 'ITEM_MISSING', reason: expect.stringMatching(/A1/) });
    const drinks = [
      { type: 'MOVE', target: 'east' },
      { type: 'INTERACT', target: 'h1' },
      { type: 'USE', target: 'h1' },
    ];
    expect(done(...drinks)).toMatchObject({ ok: true });
  });

  it('contains the tiles in sight and the open ways [9.8q]', () => {
    const { world } = act(level, beginWorld(level), { type: 'MOVE', payload: { x: 1, y: 0 } });
    const wall = 'XXXXXXXXXXX';
    expect(surroundingsOf(level, world)).toEqual({
      rows: [
        ...Array.from({ length: 5 }, () => wall),
        ...['XXXX.@XXXXX', 'XXXX+?XXXXX', 'XXXX???XXXX'],
        ...Array.from({ length: 3 }, () => wall),
      ],
      ways: [
        { to: 'south', x: 1, y: 1, entered: false },
        { to: 'west', x: 0, y: 0, entered: true },
      ],
    });
  });

  it.each(templates)('keeps the map unchanged in a prompt in %s', (template) => {
    const runs = ['XXXXX', '....', '+++++', '?????'];
    const drawn = drawnLevel(['@....#####', '.+++++.###', '.........#']);
    const steps = Array.from({ length: 4 }, (_, step) => ({ type: 'MOVE', payload: { x: step + 1, y: 0 } }));
    const world = steps.reduce((so, step) => act(drawn, so, step).world, beginWorld(drawn));
    const { prompt } = buildPrompt(anInput({ context: surroundingsOf(drawn, world), ruleset: aRuleset([], template) }));
    const [, rows = '[]'] = /"rows":(\[[^\]]*\])/.exec(prompt) ?? [];
    const seen = JSON.parse(rows) as string[];
    expect(seen).toEqual(surroundingsOf(drawn, world)['rows']);
    expect(seen.map((row) => row.length)).toEqual(
      Array.from({ length: 2 * SIGHT_TILES + 1 }, () => 2 * SIGHT_TILES + 1),
    );
    expect(runs.filter((run) => !seen.some((row) => row.includes(run)))).toEqual([]);
  });
});
