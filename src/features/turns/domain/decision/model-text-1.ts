import { findObject } from './find-object.js';
import {
  excessOfAction,
  answerMember,
  memoriesStored,
  type ModelOutput,
  recordable,
  spokenText,
} from './model-output.js';
import { untilChatToken, withoutHeader } from './templates.js';

/** What the first two logics keep of a string in an answer: all of it. */
export const wellFormed = (text: string): string => text.toWellFormed();

/**
 * How the first two logics read a model's text: after its header and up to the first chat token of four templates, an object anywhere in it, otherwise
 * dialogue. Reasoning is text to them. Never throws.
 */
export const readModelTextBefore3 = (generated: string): ModelOutput => {
  const text = untilChatToken(withoutHeader(generated));
  const { object } = findObject(text, 'last');
  if (object === null) {
    return {
      dialogue: text.toWellFormed().trim(),
      action: undefined,
      excess: null,
      stateChange: undefined,
      memories: [],
      structured: false,
    };
  }
  const action = answerMember(object, 'action') ?? '';
  const excess = excessOfAction(action);
  return {
    // An escape in the JSON may have hidden a chat token until now.
    dialogue: untilChatToken(spokenText(answerMember(object, 'dialogue'), wellFormed)).trimEnd(),
    action: action === '' || excess !== null ? undefined : recordable(action, wellFormed),
    excess,
    stateChange: answerMember(object, 'stateDelta') ?? answerMember(object, 'stateTransform'),
    memories: memoriesStored(answerMember(object, 'memoryStore') ?? answerMember(object, 'memories'), wellFormed),
    structured: true,
  };
};
