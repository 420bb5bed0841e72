import { isObject, type Json, type JsonObject } from '../../../../kernel/base/json.js';
import { pullApart } from '../../../../kernel/model-text/pull-apart.js';
import { withoutReasoningInside } from '../../../../kernel/model-text/reasoning.js';
import { separateReasoning } from '../../../../kernel/model-text/separate.js';
import { type ToolCall, withoutToolCalls } from '../../../../kernel/model-text/tool-calls.js';
import { untilEnd, untilEndToken } from '../../../../kernel/model-text/until-end.js';
import { findObject } from './find-object.js';
import {
  excessOfAction,
  answerMember,
  type CleanText,
  memoriesStored,
  type ModelOutput,
  recordable,
  spokenText,
} from './model-output.js';
import { actionCalled } from './tool-action.js';

/** The recorded part of a string in an answer: all before its first end token, without reasoning. What else models take for a mark is pulled apart. */
export const cleanText: CleanText = (text) => pullApart(untilEndToken(withoutReasoningInside(text.toWellFormed())));

/** Words that models write for "none", and how long they are at most with white space. */
const NOTHING_CHARS = 32;
const NOTHING = /^\s*(?:none|null|nil|n\/a|undefined)?\s*$/i;
const isNothing = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'string' && value.length <= NOTHING_CHARS && NOTHING.test(value)) ||
  (Array.isArray(value) && value.length === 0);

/** An action whose type is nothing, and an object without anything in it. */
const isNoAction = (action: Json | undefined): boolean => {
  if (!isObject(action)) return isNothing(action);
  const types = ['type', 'gaType'].filter((name) => Object.hasOwn(action, name));
  return (types.length > 0 ? types : Object.keys(action)).every((name) => isNothing(answerMember(action, name)));
};

/** What a client takes for a model's text if its model server sends a page or an error instead. */
const NO_WORDS = /^\s*(?:<(?:!doctype\s|html[\s>])|\{\s*"error"\s*:)/i;

const given = (object: JsonObject, ...names: readonly string[]): Json | undefined =>
  names.map((name) => answerMember(object, name)).find((value) => !isNothing(value));

/** The arguments of a call that is an answer itself: some models answer by calling a function. */
const answerCalled = (calls: readonly ToolCall[]): JsonObject | null => {
  const called = calls.map((call) => call.arguments);
  return called.find((one) => answerMember(one, 'dialogue') !== undefined) ?? null;
};

/** An action, checked against what actions may hold. */
const takeAction = (action: Json | undefined, clean: CleanText): Pick<ModelOutput, 'action' | 'excess'> => {
  if (isNoAction(action)) return { action: undefined, excess: null };
  const excess = excessOfAction(action as Json);
  const cleaned = excess === null ? recordable(action as Json, clean) : undefined;
  return { action: isNoAction(cleaned) ? undefined : cleaned, excess };
};

/** @param declared the types of action that a call may name; null: any */
export type ReadModelText = (generated: string, declared?: Pick<ReadonlySet<string>, 'has'> | null) => ModelOutput;

/** `readModelText`. @param clean what of a string in an answer is recorded */
export const readerWith =
  (clean: CleanText): ReadModelText =>
  (generated, declared = null) => {
    const { text: said, calls } = withoutToolCalls(separateReasoning(generated).text);
    const text = untilEnd(said);
    const object = findObject(text).object ?? answerCalled(calls);
    const called = actionCalled(calls, declared);
    if (object === null) {
      return {
        dialogue: NO_WORDS.test(text) ? '' : pullApart(text.toWellFormed()).trim(),
        ...takeAction(called, clean),
        stateChange: undefined,
        memories: [],
        structured: called !== undefined,
      };
    }
    const action = answerMember(object, 'action');
    return {
      dialogue: spokenText(answerMember(object, 'dialogue'), clean),
      ...takeAction(isNoAction(action) ? called : action, clean),
      stateChange: given(object, 'stateDelta', 'stateTransform'),
      memories: memoriesStored(given(object, 'memoryStore', 'memories'), clean),
      structured: true,
    };
  };

/**
 * Reads a model's text without its reasoning, up to its first end token: the object in which it answers, anywhere in it, otherwise dialogue; and calls of
 * functions, which are actions. Never throws.
 */
export const readModelText = readerWith(cleanText);
