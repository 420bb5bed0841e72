import { declarationsOf } from '../../../rules/domain/actions/action-declaration.js';
import { SPEECH_CHARS } from '../../../rules/domain/bridge/core-rules.js';
import { shortenedObject } from '../../../../kernel/base/shorten.js';
import { cutBytes, cutJsonText, cutText } from '../../../../kernel/base/text.js';
import type { MemoryDraft, Verdict, VerdictGrounds } from '../../../npcs/domain/events.js';
import { DETAILS_BYTES, DIALOGUE_BYTES, MEMORY_BYTES } from '../../../npcs/domain/recorded-bytes.js';
import type { DecisionInput } from './input.js';
import { intentOf, judgeIntent, type RefusedIntent } from './judge-intent.js';
import { DEFAULT_IMPORTANCE, DEFAULT_MEMORY_TYPE, type ModelOutput } from './model-output.js';
import { changeRefused, recordedBreaks, weighStateChange } from './state-change.js';

export type ReachedVerdict = { readonly verdict: Verdict; readonly grounds: VerdictGrounds };

const remembered = (said: ModelOutput, observation: string): readonly MemoryDraft[] =>
  said.memories.length > 0 ? said.memories : observed(observation);

/** The observation as a memory. */
const observed = (observation: string): readonly MemoryDraft[] => {
  if (observation.trim() === '') return [];
  const text = cutBytes(observation.toWellFormed(), MEMORY_BYTES);
  return [{ text, type: DEFAULT_MEMORY_TYPE, importance: DEFAULT_IMPORTANCE }];
};

const refuse = ({ ruleset, texts }: DecisionInput, { refusal, refusedAction, rule }: RefusedIntent): Verdict => {
  // A reason quotes the model's text, and is spoken.
  const reason = cutJsonText(texts.guard(refusal.reason), DIALOGUE_BYTES);
  const isStrict = ruleset?.grammar === 2;
  const line = isStrict ? (rule?.ruleRefusal ?? ruleset.ruleRefusal) : undefined;
  return {
    valid: false,
    dialogue: line === undefined ? reason : cutJsonText(line, DIALOGUE_BYTES),
    action: null,
    stateDelta: {},
    memoryStore: [],
    refusedAction,
    code: refusal.code,
    ...(isStrict ? { reason } : {}),
    details: shortenedObject(refusal.details, DETAILS_BYTES),
  };
};

/**
 * Judges a model's text: reads it leniently, checks its action against rules and bridge, and limits its state change. Never throws, whatever the
 * text. A refusal has no action, memories or state change.
 */
export const reachVerdict = (input: DecisionInput, generatedOutput: string): ReachedVerdict => {
  const said = input.texts.read(generatedOutput, declarationsOf(input.ruleset));
  const change = weighStateChange(input, said.stateChange);
  const judged = judgeIntent(input, intentOf(said), said.dialogue, change);
  const { outcome } = judged;
  if ('replacedBy' in outcome) {
    const { action, replacedBy } = outcome;
    const verdict = {
      valid: true,
      dialogue: cutJsonText(replacedBy.ruleRefusal ?? '', DIALOGUE_BYTES),
      action: { ...action, target: action.target ?? '' },
      stateDelta: {},
      memoryStore: observed(input.observation),
    };
    return { verdict, grounds: judged.grounds };
  }
  const grounds = { ...judged.grounds, ...recordedBreaks(change.breaks) };
  if ('refusal' in outcome) return { verdict: refuse(input, outcome), grounds };
  const { action } = outcome;
  const refusal = changeRefused(change);
  if (refusal !== null) return { verdict: refuse(input, { refusal, refusedAction: action }), grounds };
  const cut = action.type === 'SPEAK' && input.ruleset !== null;
  return {
    verdict: {
      valid: true,
      dialogue: cutJsonText(cut ? cutText(said.dialogue, SPEECH_CHARS) : said.dialogue, DIALOGUE_BYTES),
      action: { ...action, target: action.target ?? '' },
      stateDelta: change.patch,
      memoryStore: remembered(said, input.observation),
    },
    grounds,
  };
};
