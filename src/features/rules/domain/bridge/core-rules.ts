import type { Action } from './action.js';
import { toActionType } from '../action-type.js';
import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import { cutText } from '../../../../kernel/base/text.js';
import {
  ACTION_ITEMS,
  boundsOf,
  contains,
  detail,
  firstEntries,
  itemsOf,
  namesIn,
  numberIn,
  pointOf,
  speechOf,
  takenItems,
  withSpeech,
} from './world.js';
import type { CoreRule, Objection, Situation } from './core-rule.js';
import { asDeclared } from './declared.js';
import { shortList, shortName } from './short-names.js';
import { defined } from '../../../../kernel/base/defined.js';

/** How much an NPC may say in one action, in UTF-16 units. */
export const SPEECH_CHARS = 2_000;
const movement: CoreRule = {
  brRuleId: 'core.movement',
  ruleDescription: 'A move needs a target or numeric x and y, inside the bounds of the world if they are known.',
  affectedActions: ['MOVE'],
  object(action, { worldState }) {
    const point = pointOf(action);
    if (point === undefined) {
      if ((action.target ?? '') !== '') return null;
      return {
        code: 'MOVE_TARGET_MISSING',
        reason: 'It does not say where to move: name a target or numeric x and y.',
        details: {},
      };
    }
    const bounds = boundsOf(worldState['bounds']);
    if (bounds === undefined || contains(bounds, point)) return null;
    return {
      code: 'OUT_OF_BOUNDS',
      reason: `The place (${point.x}, ${point.y}) lies outside the world.`,
      details: {
        ...point,
        bounds: Object.fromEntries(Object.entries(bounds).filter(([, side]) => Number.isFinite(side))),
      },
    };
  },
};

const attack: CoreRule = {
  brRuleId: 'core.attack',
  ruleDescription: 'An attack needs a target. If the entities present are known, it must be one of them.',
  affectedActions: ['ATTACK'],
  object({ target = '' }, { worldState }) {
    const entities = namesIn(worldState['entities']);
    if (entities === undefined || entities.has(target)) return null;
    return {
      code: 'TARGET_NOT_FOUND',
      reason: target === '' ? 'It does not say whom to attack.' : `There is no "${shortName(target)}" here to attack.`,
      details: { target: shortName(target), entities: shortList(entities.listed) },
    };
  },
};

const interact: CoreRule = {
  brRuleId: 'core.interact',
  ruleDescription: 'An interaction needs a target.',
  affectedActions: ['INTERACT'],
  object: ({ target = '' }) =>
    target === '' ? { code: 'TARGET_MISSING', reason: 'It does not say what to interact with.', details: {} } : null,
};

const speak: CoreRule = {
  brRuleId: 'core.speak',
  ruleDescription: `Speech needs a text; it is truncated after ${SPEECH_CHARS} characters.`,
  affectedActions: ['SPEAK'],
  object(action, { dialogue }) {
    if ((speechOf(action)?.text ?? '').trim() !== '' || dialogue.trim() !== '') return null;
    return { code: 'SPEECH_EMPTY', reason: 'It says nothing: the text is empty.', details: {} };
  },
  correct(action) {
    const said = speechOf(action);
    return said === undefined || said.text.length <= SPEECH_CHARS
      ? null
      : withSpeech(action, said, cutText(said.text, SPEECH_CHARS));
  },
};

const manaCost = (action: Action): number | undefined =>
  [detail(action, 'manaCost'), detail(action, 'cost')].find((cost) => typeof cost === 'number');

const resources: CoreRule = {
  brRuleId: 'core.resources',
  ruleDescription: 'The actor needs hp above 0, and enough mana to cast. A value that is unknown is not checked.',
  affectedActions: ['*'],
  object(action, { npcState }) {
    const hp = numberIn(npcState, 'hp');
    if (hp !== undefined && hp <= 0) {
      return { code: 'HP_DEPLETED', reason: 'It has no hit points left to act with.', details: { hp } };
    }
    const mana = numberIn(npcState, 'mana');
    if (action.type !== 'CAST' || mana === undefined) return null;
    const cost = manaCost(action);
    if (mana > 0 && mana >= (cost ?? 0)) return null;
    return {
      code: 'MANA_INSUFFICIENT',
      reason: 'It lacks the mana to cast this.',
      details: { mana, ...defined({ cost }) },
    };
  },
};

/** The items that an action uses, gives or trades, all of them if it is declared to take some; null if there are too many. */
const itemsUsed = (action: Action, { worldState, declarations }: Situation): readonly string[] | null => {
  const declaration = declarations?.get(action.type);
  if (declaration?.takes === undefined) return itemsOf(action, { entities: worldState['entities'] });
  return takenItems(action, declaration)?.names ?? null;
};

const isTaking = ({ type }: Action, { declarations }: Situation): boolean =>
  declarations?.get(type)?.takes !== undefined;

/** Without an inventory that can be read, an NPC has nothing that it could give away by an action which is declared to take items. */
const nothingOwned = (listed: Json | undefined, [item = '']: readonly string[]): Objection => ({
  code: 'ITEM_NOT_IN_INVENTORY',
  reason: `It does not have "${shortName(item)}": its inventory ${(listed ?? null) === null ? 'is missing' : 'cannot be read'}.`,
  details: { item: shortName(item), inventory: [] },
});

const inventory: CoreRule = {
  brRuleId: 'core.inventory',
  ruleDescription: `An item that is used, given or traded must be in the inventory, if the inventory is known. An action names at most ${ACTION_ITEMS} items.`,
  affectedActions: ['USE', 'USE_ITEM', 'GIVE', 'GIVE_ITEM', 'TRADE', 'TRADE_ITEM'],
  affectsDeclared: isTaking,
  object(action, situation) {
    const listed = situation.npcState['inventory'];
    const owned = namesIn(listed);
    if (owned === undefined && !isTaking(action, situation)) return null;
    const items = itemsUsed(action, situation);
    if (items === null) {
      return {
        code: 'ITEMS_TOO_MANY',
        reason: `It names more than ${ACTION_ITEMS} items at once.`,
        details: { most: ACTION_ITEMS },
      };
    }
    if (owned === undefined) return nothingOwned(listed, items);
    const item = items.find((one) => !owned.has(one));
    if (item === undefined) return null;
    return {
      code: 'ITEM_NOT_IN_INVENTORY',
      reason: `It does not have "${shortName(item)}".`,
      details: { item: shortName(item), inventory: shortList(owned.listed) },
    };
  },
};

const typesIn = (constraints: JsonObject, name: string): readonly string[] | undefined => {
  const types = constraints[name];
  return Array.isArray(types)
    ? firstEntries(types as readonly Json[])
        .filter((type): type is string => typeof type === 'string')
        .map(toActionType)
    : undefined;
};

const permitted: CoreRule = {
  brRuleId: 'core.constraints',
  ruleDescription: 'If the constraints name allowed or forbidden actions, the action must respect them.',
  affectedActions: ['*'],
  object({ type }, { constraints }) {
    const allowed = typesIn(constraints, 'allowedActions');
    if (allowed !== undefined && !allowed.includes(type)) {
      return {
        code: 'ACTION_NOT_ALLOWED',
        reason: `${type} is not among the actions that are allowed here.`,
        details: { type, allowedActions: shortList(allowed) },
      };
    }
    const forbidden = typesIn(constraints, 'forbiddenActions') ?? [];
    return forbidden.includes(type)
      ? {
          code: 'ACTION_FORBIDDEN',
          reason: `${type} is forbidden here.`,
          details: { type, forbiddenActions: shortList(forbidden) },
        }
      : null;
  },
};

/** The rules of the world, in the order in which they are listed. `asDeclared` is tried before the others (validate.ts). */
export const coreRules: readonly CoreRule[] = [
  ...[movement, attack, interact, speak, resources, inventory, permitted],
  asDeclared,
];
