import { isObject, type Json, jsonBytes } from '../../../../kernel/base/json.js';
import { nearestName } from '../../../../kernel/base/nearest.js';
import { isActionType, toActionType } from '../action-type.js';
import { type Problem, problem, shownText } from '../conditions/problem.js';
import {
  type ActionDeclaration,
  DECLARED_ACTIONS,
  DECLARED_BYTES,
  DESCRIPTION_CHARS,
  targetKinds,
} from './action-declaration.js';
import { ITEM_MEMBERS } from './item-members.js';
import { propertyOf } from './payload-schema.js';
import { SHOWN_NAME_CHARS, payloadSchemaProblems, type PlacedProblem } from './read-payload-schema.js';
import { shortPointerPart } from '../../../../kernel/base/json-pointer.js';

const MEMBERS = ['type', 'description', 'target', 'payload', 'takes'] as const;
type Member = (typeof MEMBERS)[number];
const isMember = (name: string): name is Member => (MEMBERS as readonly string[]).includes(name);
/** Other words for the members, and for the kinds of targets. */
const OTHER_MEMBERS = new Map<string, Member>([
  ...(['name', 'action', 'actionType', 'gaType', 'id'] as const).map((word) => [word, 'type'] as const),
  ...(['text', 'about', 'ruleDescription'] as const).map((word) => [word, 'description'] as const),
  ...(['schema', 'parameters', 'params', 'input_schema', 'inputSchema', 'args', 'arguments'] as const).map(
    (word) => [word, 'payload'] as const,
  ),
  ...(['actionTarget', 'ruleTarget', 'at'] as const).map((word) => [word, 'target'] as const),
  ...(['uses', 'consumes', 'gives', 'costs'] as const).map((word) => [word, 'takes'] as const),
]);
const OTHER_KINDS = new Map<string, string>([
  ...['npc', 'person', 'player', 'character', 'actor', 'object'].map((word) => [word, 'entity'] as const),
  ...['thing', 'items'].map((word) => [word, 'item'] as const),
  ...['location', 'position', 'room'].map((word) => [word, 'place'] as const),
  ...['no', 'nothing', 'self'].map((word) => [word, 'none'] as const),
]);

const typeProblem = (value: Json): Problem | null => {
  if (typeof value === 'string' && isActionType(value)) return null;
  const meant = typeof value === 'string' ? toActionType(value) : '';
  return problem(
    'Must be an action type: 1 to 64 upper-case letters, digits and _.',
    isActionType(meant) ? meant : undefined,
  );
};

const oneOf = (value: Json, allowed: readonly string[], others: ReadonlyMap<string, string>): Problem | null => {
  if (typeof value === 'string' && allowed.includes(value)) return null;
  const meant =
    typeof value === 'string' ? (others.get(value.toLowerCase()) ?? nearestName(value, allowed)) : undefined;
  return problem(`Must be ${allowed.map((one) => JSON.stringify(one)).join(' or ')}.`, meant);
};

const checks: Readonly<Record<Member, (value: Json) => readonly PlacedProblem[]>> = {
  type: (value) => placed(typeProblem(value)),
  description: (value) =>
    typeof value === 'string' && value.trim() !== '' && value.length <= DESCRIPTION_CHARS
      ? []
      : placed(problem(`Must be a text of 1 to ${DESCRIPTION_CHARS} characters.`)),
  target: (value) => placed(oneOf(value, targetKinds, OTHER_KINDS)),
  payload: payloadSchemaProblems,
  takes: (value) =>
    value === 'item'
      ? []
      : placed(
          problem(
            'Only "item" is known: the action gives away or uses up the item that it names. What else it needs belongs in its payload.',
            value === 'items' ? 'item' : undefined,
          ),
        ),
};

const placed = (found: Problem | null): readonly PlacedProblem[] => (found === null ? [] : [{ pointer: '', ...found }]);

/** Whether the payload of an action that takes an item can name one. */
const canNameItem = ({ target, payload }: ActionDeclaration): boolean =>
  target === 'item' ||
  payload === undefined ||
  payload.additionalProperties !== false ||
  ITEM_MEMBERS.some((name) => propertyOf(payload, name) !== undefined);

const readOne = (body: Json): ActionDeclaration | readonly PlacedProblem[] => {
  if (!isObject(body)) {
    const type = typeof body === 'string' ? toActionType(body) : '';
    const meant = isActionType(type) ? `{"type": ${JSON.stringify(type)}, "description": …}` : undefined;
    return placed(problem('Must be an object with a type and a description.', meant));
  }
  // As everywhere in a set, null and the empty string are no value.
  const given = Object.entries<Json>(body).filter(([, value]) => value !== null && value !== '');
  const problems = given.flatMap(([name, value]): readonly PlacedProblem[] => {
    const pointer = `/${shortPointerPart(name, SHOWN_NAME_CHARS)}`;
    if (isMember(name)) return checks[name](value).map((one) => ({ ...one, pointer: pointer + one.pointer }));
    const meant = OTHER_MEMBERS.get(name) ?? nearestName(name, MEMBERS);
    return [{ pointer, ...problem(`There is no member ${shownText(name)}.`, meant) }];
  });
  const missing = (['type', 'description'] as const)
    .filter((name) => !given.some(([one]) => one === name))
    .map((name) => ({ pointer: `/${name}`, message: 'Is missing.' }));
  if (problems.length + missing.length > 0) return [...problems, ...missing];
  const declaration = Object.fromEntries<Json>(given) as unknown as ActionDeclaration;
  if (declaration.takes === undefined || canNameItem(declaration)) return declaration;
  const names = ITEM_MEMBERS.join(', ');
  return [{ pointer: '/takes', message: `The payload has no member for the item. It is one of ${names}.` }];
};

const isDeclaration = (read: ActionDeclaration | readonly PlacedProblem[]): read is ActionDeclaration => 'type' in read;

/** The actions of a set, or what is wrong with them. */
export type ReadActions = {
  /** Null if there are none: then an NPC can do everything. */
  readonly actions: readonly ActionDeclaration[] | null;
  readonly problems: readonly PlacedProblem[];
};

const refused = (message: string): ReadActions => ({ actions: null, problems: [{ pointer: '', message }] });

/** Reads the actions that a set declares, or finds what is wrong with them. */
export const readActions = (body: Json | undefined): ReadActions => {
  if (body === undefined || body === null || body === '') return { actions: null, problems: [] };
  if (!Array.isArray(body)) return refused('Must be a list of actions.');
  if (body.length > DECLARED_ACTIONS) return refused(`Must have at most ${DECLARED_ACTIONS} actions.`);
  if (jsonBytes(body) > DECLARED_BYTES) return refused(`Must have at most ${DECLARED_BYTES} bytes of JSON.`);
  const read = (body as readonly Json[]).map(readOne);
  const actions = read.filter(isDeclaration);
  const repeated = actions.filter(({ type }, index) => actions.findIndex((one) => one.type === type) !== index);
  return {
    actions,
    problems: [
      ...read.flatMap((one, index) =>
        isDeclaration(one) ? [] : one.map((found) => ({ ...found, pointer: `/${index}${found.pointer}` })),
      ),
      ...repeated.map((action) => ({
        pointer: `/${read.indexOf(action)}/type`,
        message: 'Another declaration has the same type.',
      })),
    ],
  };
};
