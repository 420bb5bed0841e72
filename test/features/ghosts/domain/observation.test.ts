import { describe, expect, it } from 'vitest';
import { act, heldBack } from '../../../../src/features/ghosts/domain/act.js';
import { bitmapHas, bitmapWith, emptyBitmap } from '../../../../src/features/ghosts/domain/bitmap.js';
import {
  ghostContextOf,
  npcStateOf,
  OBSERVATION_CHARS,
  observe,
} from '../../../../src/features/ghosts/domain/observation.js';
import { chanceOf, diceOf } from '../../../../src/features/ghosts/domain/random.js';
import { beginWorld } from '../../../../src/features/ghosts/domain/world.js';
import { drawnLevel } from './drawn-level.js';

const level = drawnLevel(['@aA.N', '.^..#', '......G']);

describe('an observation', () => {
  it('describes what happened, where the ghost is, what it holds and what it sees', () => {
    const { world } = act(level, beginWorld(level), { type: 'INTERACT', target: 'a1' });
    expect(observe(level, world)).toBe(
      'You take the item a1. You are at (0, 0) of drawn with 10 of 10 hit points. You can go east, south. ' +
        'You have reached 0 of 1 goals. You carry a1. You see the shut door A1 at (2, 0), the hazard hazard1 at (1, 1), the character npc1 at (4, 0).',
    );
    expect(ghostContextOf(level, world)).toEqual({
      worldState: { bounds: { minX: 0, maxX: 4, minY: 0, maxY: 2 }, entities: ['A1', 'hazard1', 'npc1'] },
    });
    expect(npcStateOf(level, world)).toEqual({ hp: 10, maxHp: 10, inventory: ['a1'], position: { x: 0, y: 0 } });
  });

  it('explains why nothing happened', () => {
    expect(observe(level, act(level, beginWorld(level), { type: 'DANCE' }).world)).toMatch(
      /^Nothing happens\. This world has no action DANCE\./,
    );
    expect(observe(level, heldBack(beginWorld(level), 'It is forbidden.'))).toMatch(
      /^You hold back\. It is forbidden\./,
    );
  });

  it('stays within its bound in the fullest level', () => {
    const full = drawnLevel(Array.from({ length: 11 }, (_, y) => (y === 5 ? 'NNNNN@NNNNN' : 'NNNNNNNNNNN')));
    const named = {
      ...full,
      name: 'n'.repeat(500),
      npcs: full.npcs.map((npc, index) => ({ ...npc, id: `${index} ${'x'.repeat(200)}` })),
      triggers: Array.from({ length: 50 }, (_, index) => ({
        id: `t${index}`,
        from: { x: 0, y: 0 },
        to: { x: 10, y: 10 },
        text: 'w'.repeat(1_000),
        once: false,
      })),
    };
    const seen = observe(named, beginWorld(named));
    expect(seen.length).toBeLessThanOrEqual(OBSERVATION_CHARS);
    expect(seen).toContain('You are at (5, 5)');
  });
});

describe('small state', () => {
  it('stores sets of numbers as text', () => {
    const numbers = [0, 5, 6, 63, 64, 99];
    const bitmap = numbers.reduce(bitmapWith, emptyBitmap(100));
    expect(bitmap).toMatch(/^[\w-]{17}$/);
    expect(Array.from({ length: 100 }, (_, number) => number).filter((number) => bitmapHas(bitmap, number))).toEqual(
      numbers,
    );
  });

  it('continues drawing from a stored state', () => {
    const rolls = (dice: ReturnType<typeof diceOf>) => Array.from({ length: 20 }, () => dice.int(1, 1_000_000));
    const whole = diceOf(chanceOf(2 ** 40 + 3));
    const first = rolls(whole);
    const again = diceOf(JSON.parse(JSON.stringify(whole.left())) as readonly number[]);
    expect(rolls(again)).toEqual(rolls(whole));
    expect(rolls(diceOf(chanceOf(2 ** 40 + 3)))).toEqual(first);
    expect(rolls(diceOf(chanceOf(3)))).not.toEqual(first);
    expect(rolls(diceOf(chanceOf(-3)))).not.toEqual(rolls(diceOf(chanceOf(3))));
  });
});
