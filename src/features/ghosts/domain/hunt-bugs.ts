import type { Level } from '../../levels/domain/level.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { DIRECTIONS, isOnMap, numberOfTile } from './chart.js';
import { exploringStep, type Taste } from './explore.js';
import { settlePlan } from './journey.js';
import { beginPlan, IDLE, textOf, type Plan, type Policy } from './policy.js';
import { drawProbe } from './probes.js';
import { diceOf, type Dice } from './random.js';
import { spoilingOf } from './spoil.js';
import { isEnterable, type World } from './world.js';

/** The percentage of steps that are probes: while there is something to explore, and after that. */
const PROBES_PERCENT = 40;
const PROBES_LATE_PERCENT = 75;
/** The longest text that a plan keeps to repeat, in UTF-16 units. */
const KEPT_CHARS = 2_000;

/** A move to a random free neighbour, so that a ghost with nothing left to explore meets other objects; idle if there is none. */
export const stroll = (level: Level, world: World, dice: Dice): JsonObject => {
  const ways = DIRECTIONS.map((way) => ({ x: world.at.x + way.x, y: world.at.y + way.y })).filter(
    (to) => isOnMap(level, to) && isEnterable(level, world, numberOfTile(level, to)),
  );
  const to = dice.any(ways);
  return to === undefined ? IDLE : { type: 'MOVE', payload: to };
};

/** The plan after a step that was said with these dice; the text is kept for a repeat. */
export const afterSaying = (plan: Plan, text: string, dice: Dice): Plan => ({
  ...plan,
  chance: dice.left(),
  turn: plan.turn + 1,
  said: text.length <= KEPT_CHARS ? text : plan.said,
});

/** If an item can be wasted on a door, it is used for nothing else, and the door is reserved for it. */
const spoiling = (level: Level, world: World): Taste => {
  const waste = spoilingOf(level, world);
  return (door, item) => waste === null || (item === waste.item) === (door === waste.door);
};

/** Plays `find_bugs`: explores, and in between tries everything that should not work. */
export const bugHunting: Policy = {
  begin: beginPlan,
  next(level, world, before, last) {
    const settled = settlePlan(level, world, before, last);
    const dice = diceOf(settled.chance);
    if (dice.luck(settled.stuck ? PROBES_LATE_PERCENT : PROBES_PERCENT)) {
      const drawn = drawProbe({ level, world, plan: settled, dice });
      return { ...drawn, plan: afterSaying(settled, drawn.text, dice) };
    }
    const { plan, action } = exploringStep(level, world, settled, () => spoiling(level, world));
    const text = textOf(action ?? stroll(level, world, dice));
    return { plan: afterSaying(plan, text, dice), text, kind: action === null ? 'stroll' : 'explore' };
  },
};
