import { isInReach } from './chart.js';
import { exploringStep } from './explore.js';
import { afterSaying, stroll } from './hunt-bugs.js';
import { settlePlan } from './journey.js';
import { beginPlan, IDLE, textOf, type Policy } from './policy.js';
import { greet } from './probes.js';
import { diceOf } from './random.js';
import { thingsInSight } from './world.js';

/** The number of steps in one round; each of the other kinds of steps occurs once, the rest is exploring. */
const ROUND = 10;
/** One attack in this many rounds, so that not all NPCs go down at the same time. */
const ATTACK_ROUNDS = 5;

/** Plays `collect_metrics`: a steady mix of typical player actions, so that figures of two sessions can be compared. */
export const metricsGathering: Policy = {
  begin: beginPlan,
  next(level, world, before, last) {
    const settled = settlePlan(level, world, before, last);
    const dice = diceOf(settled.chance);
    const { turn } = settled;
    const say = (text: string, kind: string) => ({ text, kind, plan: afterSaying(settled, text, dice) });
    const atHand = dice.any(thingsInSight(level, world).filter(({ at }) => isInReach(world.at, at)));
    const item = level.items[dice.any(world.held) ?? -1]?.id;
    const mayAttack = turn % (ROUND * ATTACK_ROUNDS) === ROUND - 1;
    switch (turn % ROUND) {
      case 2:
        return say(greet({ level, world, plan: settled, dice }), 'speech');
      case 5:
        if (atHand === undefined) break;
        return say(textOf({ type: 'INTERACT', target: atHand.id }), 'nearby');
      case 7:
        if (atHand === undefined || item === undefined) break;
        return say(textOf({ type: 'USE', target: atHand.id, payload: { item } }), 'item_on_thing');
      case 8:
        return say(textOf(IDLE), 'idle');
      case 9:
        if (atHand?.kind !== 'npc' || !mayAttack) break;
        return say(textOf({ type: 'ATTACK', target: atHand.id }), 'attack');
    }
    const { plan, action } = exploringStep(level, world, settled);
    const text = textOf(action ?? stroll(level, world, dice));
    return { plan: afterSaying(plan, text, dice), text, kind: action === null ? 'stroll' : 'explore' };
  },
};
