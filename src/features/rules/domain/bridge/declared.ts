import {
  type ActionDeclaration,
  declarationsOf,
  type DeclaringSet,
  type TargetKind,
} from '../actions/action-declaration.js';
import { ACTION_MEMBERS } from '../actions/action-members.js';
import { payloadProblem } from '../actions/check-payload.js';
import { nearestName } from '../../../../kernel/base/nearest.js';
import type { Action } from './action.js';
import type { CoreRule, Objection, Situation } from './core-rule.js';
import { shortList, shortName } from './short-names.js';
import { ACTION_ITEMS, namesIn, takenItems } from './world.js';

/** Why an action is refused whose type the ruleset does not declare; null if it does, or if it declares none. */
export const undeclared = (ruleset: DeclaringSet | null, { type }: Action): Objection | null => {
  const declarations = declarationsOf(ruleset);
  if (declarations === null || declarations.has(type)) return null;
  const types = [...declarations.keys()];
  const meant = nearestName(type, types);
  return {
    code: 'ACTION_UNKNOWN',
    reason: `This NPC cannot ${type}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    details: { type, actions: shortList(types), ...(meant === undefined ? {} : { meant }) },
  };
};

/** Where the world lists what an action can be aimed at. */
const LISTS: Readonly<Record<Exclude<TargetKind, 'none'>, string>> = {
  entity: 'entities',
  item: 'items',
  place: 'places',
};
const NEEDED: typeof LISTS = { entity: 'somebody or something here', item: 'an item', place: 'a place' };

const targetObjection = (
  { type, target = '' }: Action,
  kind: TargetKind,
  { worldState, npcState }: Situation,
): Objection | null => {
  const isAimed = target.trim() !== '';
  if (kind === 'none')
    return isAimed
      ? {
          code: 'TARGET_UNEXPECTED',
          reason: `${type} has no target, but it is aimed at "${shortName(target)}".`,
          details: { target: shortName(target) },
        }
      : null;
  if (!isAimed)
    return { code: 'TARGET_MISSING', reason: `${type} needs a target: ${NEEDED[kind]}.`, details: { type } };
  const there = namesIn(worldState[LISTS[kind]]);
  if (there === undefined || there.has(target)) return null;
  if (kind === 'item' && namesIn(npcState['inventory'])?.has(target) === true) return null;
  return {
    code: 'TARGET_NOT_FOUND',
    reason: `There is no ${kind} "${shortName(target)}" here.`,
    details: { target: shortName(target), [LISTS[kind]]: shortList(there.listed) },
  };
};

const isEnvelope = (name: string): boolean => ACTION_MEMBERS.includes(name);

const payloadObjection = (action: Action, { payload: schema }: ActionDeclaration): Objection | null => {
  if (schema === undefined) return null;
  const { type, payload } = action;
  const beside = Object.keys(action).find((name) => !isEnvelope(name));
  const found =
    beside === undefined
      ? payloadProblem(payload, schema)
      : { pointer: '', problem: `does not hold "${shortName(beside)}", which is beside it` };
  if (found === null) return null;
  const { pointer, problem } = found;
  const what = pointer === '' ? 'it' : shortName(pointer.slice(1).replaceAll('/', '.'));
  return {
    code: 'PAYLOAD_INVALID',
    reason: `The payload of ${type} is not valid: ${what} ${problem}.`,
    details: { type, pointer, problem },
  };
};

/** What an action takes must be named, so that the inventory can be asked for it. */
const itemObjection = (action: Action, declaration: ActionDeclaration): Objection | null => {
  if (declaration.takes === undefined) return null;
  const { type } = action;
  const items = takenItems(action, declaration);
  if (items === null)
    return {
      code: 'ITEMS_TOO_MANY',
      reason: `It names more than ${ACTION_ITEMS} items at once.`,
      details: { most: ACTION_ITEMS },
    };
  return items.names.length > 0 && items.isWhole
    ? null
    : { code: 'ITEM_MISSING', reason: `${type} does not say which item it takes.`, details: { type } };
};

/** Asks whether an action is as its ruleset declares it. */
export const asDeclared: CoreRule = {
  brRuleId: 'core.actions',
  ruleDescription:
    'If the ruleset declares its actions, the target and the payload of an action must be as it declares them.',
  affectedActions: ['*'],
  object(action, situation) {
    const declaration = situation.declarations?.get(action.type);
    if (declaration === undefined) return null;
    const { target } = declaration;
    return (
      (target === undefined ? null : targetObjection(action, target, situation)) ??
      payloadObjection(action, declaration) ??
      itemObjection(action, declaration)
    );
  },
};
