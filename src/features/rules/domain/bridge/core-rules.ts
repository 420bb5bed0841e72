import type { Action } from './action.js';
import { toActionType } from '../action-type.js';
import type { Json, JsonObject } from '../../../../kernel/base/json.js';
import type { RejectionCode } from '../../../../kernel/base/rejection.js';
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
  withSpeech,
} from './world.js';
import { defined } from '../../../../kernel/base/defined.js';

/** The situation that an action is checked against. */
export type Situation = {
  readonly npcState: JsonObject;
  readonly worldState: JsonObject;
  readonly constraints: JsonObject;
  /** The dialogue that goes with the action, in a turn. */
  readonly dialogue: string;
};

/** An agent's client gets the same code. */
export type Objection = { readonly code: RejectionCode; readonly reason: string; readonly details: JsonObject };

/** A built-in rule of the world. `*` affects every action. */
export type CoreRule = {
  readonly brRuleId: string;
  readonly ruleDescription: string;
  readonly affectedActions: readonly string[];
  object(action: Action, situation: Situation): Objection | null;
  /** The corrected action, if only its form is wrong; null if there is nothing to correct. */
  correct?(action: Action): Action | null;
};

/** How much an NPC may say in one action, in UTF-16 units. */
export const SPEECH_CHARS = 2_000;
/**
 * How many names a refusal lists, and how much of each name it shows, in UTF-16 units. With these bounds all checks fit into CHECKS_BYTES (trace.ts).
 */
const LISTED_NAMES = 50;
const NAME_CHARS = 100;
/** The limit of the names of one list together, in bytes of JSON. */
const LISTED_BYTES = 4_096;

const shortName = (name: string): string => cutText(name, NAME_CHARS);

const shortList = (names: readonly string[]): readonly string[] => {
  const shown = names.slice(0, LISTED_NAMES).map(shortName);
  let left = LISTED_BYTES;
  const fitting = shown.findIndex((name) => {
    left -= new TextEncoder().encode(JSON.stringify(name)).length + 1;
    return left < 0;
  });
  return [
    ...shown.slice(0, fitting === -1 ? shown.length : fitting),
    ...(names.length > LISTED_NAMES || fitting !== -1 ? ['…'] : []),
  ];
};

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

const inventory: CoreRule = {
  brRuleId: 'core.inventory',
  ruleDescription: `An item that is used, given or traded must be in the inventory, if the inventory is known. An action names at most ${ACTION_ITEMS} items.`,
  affectedActions: ['USE', 'USE_ITEM', 'GIVE', 'GIVE_ITEM', 'TRADE', 'TRADE_ITEM'],
  object(action, { npcState, worldState }) {
    const owned = namesIn(npcState['inventory']);
    if (owned === undefined) return null;
    const items = itemsOf(action, { entities: worldState['entities'] });
    if (items === null) {
      return {
        code: 'ITEMS_TOO_MANY',
        reason: `It names more than ${ACTION_ITEMS} items at once.`,
        details: { most: ACTION_ITEMS },
      };
    }
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

/** The rules of the world, in the order in which they are checked. */
export const coreRules: readonly CoreRule[] = [movement, attack, interact, speak, resources, inventory, permitted];
