import { isActionType, toActionType } from '../action-type.js';
import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { defined } from '../../../../kernel/base/defined.js';

/** An action on the wire. */
export type Action = {
  readonly type: string;
  readonly target?: string;
  readonly reason?: string;
  readonly confidence?: number;
  readonly payload?: Json;
  readonly signature?: string;
  readonly [other: string]: Json | undefined;
};

/** An action that was read, or the reason why it is not an action. */
export type ReadAction =
  | { readonly ok: true; readonly action: Action }
  | { readonly ok: false; readonly code: 'ACTION_TYPE_MISSING' | 'ACTION_TYPE_INVALID'; readonly reason: string };

const NAMES = ['type', 'target', 'reason', 'confidence', 'payload', 'signature'];
const ALIASES = ['gaType', 'actionTarget', 'actionReason'];
const ours = new Set([...NAMES, ...ALIASES, '__proto__']);

/** A target is a name. Models also write the object itself; one of these members then names it. */
const nameOf = (value: Json | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return JSON.stringify(value);
  if (!isObject(value)) return undefined;
  return [value['id'], value['npcId'], value['name']].find((name) => typeof name === 'string');
};

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const first = (body: JsonObject, name: string, alias: string): Json | undefined => body[name] ?? body[alias];

/**
 * Reads an action from an object or the name of a type. Plain names override the aliases `gaType`, `actionTarget` and `actionReason`. The type is
 * converted to upper snake case. Malformed members are dropped, and unknown ones are kept.
 */
export const readAction = (value: Json): ReadAction => {
  const body: JsonObject = typeof value === 'string' ? { type: value } : isObject(value) ? value : {};
  const written = first(body, 'type', 'gaType');
  const type = typeof written === 'string' ? toActionType(written) : '';
  if (type === '') {
    return { ok: false, code: 'ACTION_TYPE_MISSING', reason: 'The action has no type, so nobody knows what to do.' };
  }
  if (!isActionType(type)) {
    return {
      ok: false,
      code: 'ACTION_TYPE_INVALID',
      reason: 'The action type is not one upper-snake word, such as MOVE.',
    };
  }
  const target = nameOf(first(body, 'target', 'actionTarget'));
  const reason = textOf(first(body, 'reason', 'actionReason'));
  const { confidence, payload, signature } = body;
  const action: Action = {
    type,
    ...defined({ target, reason }),
    ...(typeof confidence === 'number' ? { confidence } : {}),
    ...(payload === undefined || payload === null ? {} : { payload }),
    ...(typeof signature === 'string' ? { signature } : {}),
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !ours.has(name))),
  };
  return { ok: true, action };
};
