import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { act } from '../../../../src/features/ghosts/domain/act.js';
import { beginWorld, isRunOver, NPC_HITS, type World } from '../../../../src/features/ghosts/domain/world.js';
import type { Level } from '../../../../src/features/levels/domain/level.js';
import type { Json } from '../../../../src/kernel/base/json.js';
import { drawnLevel } from './drawn-level.js';

const level = drawnLevel([
  '##########', //
  '#@aA.....#',
  '#h+.^.N.G#',
  '#j.......#',
  '##########',
]);
const at = (x: number, y: number, change: Partial<World> = {}): World => ({
  ...beginWorld(level),
  at: { x, y },
  ...change,
});
const move = (x: number, y: number) => ({ type: 'MOVE', payload: { x, y } });
const codeOf = (world: World, action: Json, where: Level = level): string => {
  const { outcome } = act(where, world, action);
  return outcome.ok ? 'ok' : outcome.code;
};

describe('moving', () => {
  it('leads to a free neighbour and counts the entered tiles', () => {
    const start = beginWorld(level);
    const { world, outcome } = act(level, start, move(1, 2));
    expect(outcome).toEqual({ ok: true, happened: ['You move to (1, 2).'] });
    expect([world.at, start.entered, world.entered]).toEqual([{ x: 1, y: 2 }, 1, 2]);
    expect(act(level, world, move(1, 1)).world.entered).toBe(2);
  });

  it('accepts the name of a thing on the neighbouring tile [9.8r]', () => {
    expect(act(level, at(1, 1), { type: 'MOVE', target: 'a1' }).world.at).toEqual({ x: 2, y: 1 });
  });

  it('accepts a direction, or the tile in words [9.8r]', () => {
    const from = at(5, 2);
    const goals = ['north', 'SOUTH', ' west ', 'east', '5,1', '(5, 3)'].map(
      (target) => act(level, from, { type: 'MOVE', target }).world.at,
    );
    expect(goals.map(({ x, y }) => [x, y])).toEqual([
      ...[[5, 1], [5, 3], [4, 2], [6, 2], [5, 1], [5, 3]], // prettier-ignore
    ]);
  });

  it('prefers a thing to the direction of the same name [9.8r]', () => {
    const named = { ...level, items: level.items.map((item, i) => (i === 0 ? { ...item, id: 'north' } : item)) };
    expect(act(named, at(1, 1), { type: 'MOVE', target: 'north' }).world.at).toEqual({ x: 2, y: 1 });
  });

  const refused: readonly [title: string, world: World, action: Json, code: string][] = [
    ['into a wall', at(1, 1), move(0, 1), 'WALL_IN_THE_WAY'],
    ['through a locked door', at(2, 1), move(3, 1), 'DOOR_SHUT'],
    ['through a shut door', at(1, 2), move(2, 2), 'DOOR_SHUT'],
    ['off the map', at(1, 1), move(1, -1), 'OFF_THE_MAP'],
    ['off the map in words', at(1, 1), { type: 'MOVE', target: '-1,1' }, 'OFF_THE_MAP'],
    ['into a wall by its direction', at(1, 1), { type: 'MOVE', target: 'north' }, 'WALL_IN_THE_WAY'],
    ['two tiles', at(1, 1), move(1, 3), 'TOO_FAR'],
    ['two tiles in words', at(1, 1), { type: 'MOVE', target: '1,3' }, 'TOO_FAR'],
    ['diagonally', at(3, 2), move(4, 3), 'TOO_FAR'],
    ['nowhere', at(1, 1), move(1, 1), 'TOO_FAR'],
    ['half a tile', at(4, 3), move(4.5, 3.5), 'TOO_FAR'],
    ['to an unknown target', at(1, 1), { type: 'MOVE', target: 'atlantis' }, 'TARGET_UNKNOWN'],
    ['without a destination', at(1, 1), { type: 'MOVE' }, 'TARGET_MISSING'],
  ];
  it.each(refused)('does not lead %s', (_, world, action, code) => {
    expect(codeOf(world, action)).toBe(code);
    expect(act(level, world, action).world).toEqual({ ...world, news: [expect.stringContaining('Nothing happens')] });
  });

  it('into a hazard harms, and ends the run at zero hit points', () => {
    const { world, outcome } = act(level, at(4, 1), move(4, 2));
    expect([world.hp, isRunOver(world), outcome.ok]).toEqual([9, false, true]);
    const dead = act(level, at(4, 1, { hp: 1 }), move(4, 2)).world;
    expect([dead.hp, isRunOver(dead), codeOf(dead, move(4, 1))]).toEqual([0, true, 'RUN_OVER']);
    const harsh = drawnLevel(['###', '#@#', '#^#', '###'], { harm: 50 });
    expect(act(harsh, beginWorld(harsh), move(1, 2)).world).toMatchObject({ hp: 0, at: { x: 1, y: 2 } });
  });

  it('reaches a goal by entering it', () => {
    expect(act(level, at(7, 2), move(8, 2)).world.reached).toEqual([0]);
  });

  it('shows the texts of triggers, once or each time', () => {
    const trigger = (id: string, once: boolean) => ({
      id,
      from: { x: 1, y: 2 },
      to: { x: 1, y: 3 },
      text: `You hear ${id}.`,
      once,
    });
    const heard = { ...level, triggers: [trigger('wind', false), trigger('a bell', true)] };
    const first = act(heard, beginWorld(heard), move(1, 2));
    expect(first.outcome).toEqual({
      ok: true,
      happened: ['You move to (1, 2).', 'You hear wind.', 'You hear a bell.'],
    });
    const second = act(heard, first.world, move(1, 3));
    expect(second.world.news).toEqual(['You move to (1, 3).', 'You hear wind.']);
    expect(second.world.noticed).toEqual([0, 1]);
  });
});

describe('things', () => {
  it('are taken once, from the same or a neighbouring tile', () => {
    const { world } = act(level, at(1, 1), { type: 'INTERACT', target: 'a1' });
    expect(world.held).toEqual([0]);
    expect(codeOf(world, { type: 'INTERACT', target: 'a1' })).toBe('TARGET_UNKNOWN');
    expect(codeOf(at(4, 3), { type: 'INTERACT', target: 'a1' })).toBe('TOO_FAR');
  });

  it('open: an unlocked door by hand, a locked one only with its key [9.8r]', () => {
    const open = act(level, at(1, 2), { type: 'INTERACT', target: 'door1' });
    expect(codeOf(open.world, move(2, 2))).toBe('ok');
    expect(codeOf(open.world, { type: 'INTERACT', target: 'door1' })).toBe('DOOR_OPEN');
    const withAll = at(2, 1, { held: [0, 1, 2] });
    expect(codeOf(withAll, { type: 'INTERACT', target: 'A1' })).toBe('DOOR_LOCKED');
    expect(codeOf(withAll, { type: 'USE', target: 'A1', payload: { item: 'h1' } })).toBe('ITEM_UNFIT');
    expect(codeOf(at(2, 1), { type: 'USE', target: 'A1', payload: { item: 'a1' } })).toBe('ITEM_NOT_HELD');
    const unlocked = act(level, withAll, { type: 'USE', target: 'A1', payload: { item: 'a1' } });
    expect(codeOf(unlocked.world, move(3, 1))).toBe('ok');
    expect(unlocked.world.held).toEqual([0, 1, 2]);
  });

  it('disappear after their use if they are consumed', () => {
    const once = drawnLevel(['@aA.'], { consumed: true });
    const near = { ...beginWorld(once), at: { x: 1, y: 0 }, held: [0] };
    const { world } = act(once, near, { type: 'USE', target: 'A1', payload: { item: 'a1' } });
    expect([world.held, world.spent, world.opened]).toEqual([[], [0], [0]]);
  });

  it('heal an injured ghost up to the hit points of the level', () => {
    const heal = { type: 'USE', payload: { item: 'h1' } };
    const hurt = at(1, 1, { held: [1], hp: 7 });
    expect(act(level, hurt, heal).world).toMatchObject({ hp: 10, held: [], spent: [1] });
    expect(act(level, hurt, { type: 'USE', target: 'h1' }).world.hp).toBe(10);
    expect(codeOf(at(1, 1, { held: [1] }), heal)).toBe('NOT_HURT');
    expect(codeOf(at(1, 1, { held: [2], hp: 5 }), { type: 'USE', payload: { item: 'j1' } })).toBe('ITEM_UNFIT');
  });

  it('can be goals, which are reached by a touch', () => {
    expect(act(level, at(8, 3), { type: 'INTERACT', target: 'goal1' }).world.reached).toEqual([0]);
  });
});

describe('characters', () => {
  it('hear a speaker within three tiles', () => {
    const speak = { type: 'SPEAK', target: 'npc1' };
    expect(act(level, at(4, 3), speak).outcome).toMatchObject({ ok: true, heardBy: 'npc1' });
    expect(codeOf(at(2, 3), speak)).toBe('TOO_FAR');
    expect(act(level, at(2, 3), { type: 'SPEAK' }).outcome).not.toHaveProperty('heardBy');
    expect(codeOf(at(1, 1), { type: 'SPEAK', target: 'a1' })).toBe('TARGET_UNFIT');
  });

  it('are attacked from an adjacent tile until they are down', () => {
    const attack = { type: 'ATTACK', target: 'npc1' };
    expect(codeOf(at(4, 2), attack)).toBe('TOO_FAR');
    let world = at(5, 2);
    for (let hit = 1; hit <= NPC_HITS; hit += 1) world = act(level, world, attack).world;
    expect(world.hits).toEqual([NPC_HITS]);
    expect(codeOf(world, attack)).toBe('TARGET_DOWN');
    expect(codeOf(world, { type: 'SPEAK', target: 'npc1' })).toBe('TARGET_DOWN');
  });
});

describe('any other action', () => {
  it('does nothing', () => {
    expect(codeOf(at(1, 1), { type: 'DANCE' })).toBe('ACTION_UNKNOWN');
    expect(codeOf(at(1, 1), {})).toBe('ACTION_TYPE_MISSING');
    expect(codeOf(at(1, 1), { type: 'IDLE' })).toBe('ok');
  });

  const word = fc.constantFrom(
    'MOVE',
    'INTERACT',
    'USE',
    'SPEAK',
    'ATTACK',
    'IDLE',
    'a1',
    'A1',
    'npc1',
    'item',
    '__proto__',
  );
  const number = fc.oneof(fc.double(), fc.integer({ min: -2, max: 10 }), fc.constantFrom(NaN, Infinity, -0, 1e308));
  const leaf = fc.oneof(word, number, fc.string(), fc.constant(null), fc.boolean());
  const name = fc.oneof(
    fc.constantFrom('type', 'target', 'payload', 'x', 'y', 'item', 'items', 'position', 'id'),
    fc.string(),
  );
  const { anything } = fc.letrec((tie) => ({
    anything: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('anything')), fc.dictionary(name, tie('anything'))),
  }));
  const action = fc.oneof(
    anything,
    fc.record({ type: word, target: anything, payload: anything }, { requiredKeys: [] }),
  );

  it('never throws, and leaves a world that can be stored', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        let world = beginWorld(level);
        for (const one of [...actions, undefined]) {
          const acted = act(level, world, one as Json);
          const changed = { ...acted.world, news: world.news };
          if (!acted.outcome.ok) expect(changed).toEqual(world);
          world = acted.world;
          expect(JSON.parse(JSON.stringify(world))).toEqual(world);
        }
      }),
      { numRuns: 500 },
    );
  });
});
