import type { DirectiveRuleSet } from '../rules/ruleset.js';
import { generateRooms } from './generated-rooms.js';
import type { Level, Tile } from './level.js';
import { createLevelDraw, type LevelDraw } from './level-draw.js';

/** Half of a side, rounded down: 13 to 39 tiles. Sides are odd, because walls stand on even tiles. */
const LEAST_HALF = 6;
const MOST_HALF = 19;
const HIT_POINTS = 100;
const HARM = 10;
const HEALS = 25;
/** Fewer than would kill a ghost that enters each of them once. */
const MOST_HAZARDS = 5;
const MOST_POTIONS = 3;
const MOST_GOALS = 2;

const KEY = 'key';
const DOOR = 'door';

const people = [
  {
    id: 'keeper',
    persona: 'Keeps the rooms and likes to talk.',
    says: ['Good day.', 'The key lies where you came in.'],
  },
  { id: 'hermit', persona: 'Lives here alone and is short of words.', says: ['Go on.', 'Mind where you step.'] },
  {
    id: 'pedlar',
    persona: 'Sells what he finds, and knows the way.',
    says: ['A fine day for a walk.', 'Past the door is the way out.'],
  },
] as const;

/** No rules of its own, so that none is to be tested; the core rules of the bridge hold (contract 4.2). */
const GENERATED_RULES: DirectiveRuleSet = { rulesetId: 'generated', version: 1, rulesetRules: [], template: null };

/** Takes tiles that nothing else takes. */
const takerOf = (draw: LevelDraw, tiles: readonly Tile[]): ((count: number) => readonly Tile[]) => {
  const mixed = [...draw.someOf(tiles, tiles.length)];
  return (count) => mixed.splice(0, count);
};

/** Who begins in one half finds the key there, and the goals behind the door. */
const fill = (draw: LevelDraw, near: readonly Tile[], far: readonly Tile[]) => {
  const [takeNear, takeFar] = [takerOf(draw, near), takerOf(draw, far)];
  const [spawn, key, person] = takeNear(3);
  const goals = takeFar(draw.within(1, MOST_GOALS));
  if (spawn === undefined || key === undefined || person === undefined || goals.length === 0)
    throw new Error('each half of a generated level has free tiles');
  const potions = [...takeNear(1), ...takeFar(draw.within(0, MOST_POTIONS - 1))];
  const hazards = [...takeFar(1), ...takeNear(draw.within(0, MOST_HAZARDS - 1))];
  const [bell] = takeFar(1);
  return { spawn, key, person, goals, potions, hazards, bell };
};

const numbered = <More extends object>(word: string, tiles: readonly Tile[], more: More) =>
  tiles.map((at, index) => ({ id: `${word}-${index + 1}`, at, ...more }));

/**
 * The level of a name that nobody registered (contract 7.3): always the same for a name and a seed. Its goals can be reached, through a door that the key
 * opens.
 */
export const generateLevel = (name: string, seed: number): Level => {
  const draw = createLevelDraw(`${seed} ${name}`);
  const [width, height] = [2 * draw.within(LEAST_HALF, MOST_HALF) + 1, 2 * draw.within(LEAST_HALF, MOST_HALF) + 1];
  const { rows, door, halves } = generateRooms(draw, width, height);
  const [near, far] = draw.within(0, 1) === 0 ? halves : [halves[1], halves[0]];
  const { spawn, key, person, goals, potions, hazards, bell } = fill(draw, near, far);
  return {
    name,
    width,
    height,
    rows,
    spawn,
    hp: HIT_POINTS,
    persona: 'Somebody who looks for the way out.',
    ruleset: GENERATED_RULES,
    goals: numbered('goal', goals, {}),
    items: [
      { id: KEY, at: key, opens: [DOOR], heals: 0, consumed: true },
      ...numbered('potion', potions, { opens: [], heals: HEALS, consumed: true }),
    ],
    doors: [{ id: DOOR, at: door, locked: true }],
    hazards: numbered('pit', hazards, { harm: HARM }),
    npcs: [{ ...draw.oneOf(people), at: person, ruleset: GENERATED_RULES }],
    triggers:
      bell === undefined ? [] : [{ id: 'bell', from: bell, to: bell, text: 'A bell rings far away.', once: true }],
  };
};
