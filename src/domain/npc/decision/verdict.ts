import { checkAction, situationOf } from '../../bridge/validate.js';
import { SPEECH_CHARS } from '../../bridge/core-rules.js';
import { contradicts, forbiddenBy, type Refusal } from '../../bridge/refusal.js';
import { matchRules } from '../../rules/match.js';
import type { JsonObject } from '../../shared/json.js';
import { cutBytes, cutText, wellFormed } from '../../shared/text.js';
import type { Action, MemoryDraft, Verdict, VerdictGrounds } from '../events.js';
import { readAction } from './action.js';
import type { DecisionInput } from './input.js';
import { DEFAULT_IMPORTANCE, DEFAULT_MEMORY_TYPE, MEMORY_BYTES, readModelText, type ModelSaid } from './model-text.js';
import { readStateChange } from './state-change.js';

export type ReachedVerdict = { readonly verdict: Verdict; readonly grounds: VerdictGrounds };

/** What the model wants to do: what it wrote, or what its words amount to (`made`). */
type Intent =
  | { readonly ok: true; readonly action: Action; readonly made: boolean }
  | { readonly ok: false; readonly refusal: Refusal };

/** Plain dialogue is `SPEAK`; an answer without words and action, which only remembers or changes state, is `IDLE`. */
const intentOf = ({ action: written, dialogue, structured }: ModelSaid): Intent => {
  if (written === undefined) {
    return { ok: true, action: { type: structured && dialogue === '' ? 'IDLE' : 'SPEAK' }, made: true };
  }
  const read = readAction(written);
  if (!read.ok) return { ok: false, refusal: { code: read.code, reason: read.reason, details: {} } };
  // A model cannot sign: what it writes there is somebody's text.
  const { signature: _, ...action } = read.action;
  return { ok: true, action, made: false };
};

const remembered = (said: ModelSaid, observation: string): readonly MemoryDraft[] => {
  if (said.memories.length > 0) return said.memories;
  if (observation.trim() === '') return [];
  const text = cutBytes(wellFormed(observation), MEMORY_BYTES);
  return [{ text, type: DEFAULT_MEMORY_TYPE, importance: DEFAULT_IMPORTANCE }];
};

const refuse = (refusal: Refusal, refusedAction: Action | null): Verdict => ({
  valid: false,
  dialogue: refusal.reason,
  action: null,
  stateDelta: {},
  memoryStore: [],
  refusedAction,
  code: refusal.code,
  details: refusal.details,
});

type Judged = {
  /** The action as it may stand, or why it may not. */
  readonly outcome: { readonly action: Action } | { readonly refusal: Refusal; readonly refusedAction: Action | null };
  readonly grounds: VerdictGrounds;
};

/** Holds an intent against the rules, then against the world; with no ruleset nothing but its shape counts (contract 4.2). */
const judge = (input: DecisionInput, intent: Intent, dialogue: string): Judged => {
  const acted = intent.ok ? intent.action : null;
  const { matches, traces } = matchRules(input.ruleset, { ...input, action: acted as JsonObject | null });
  const unchecked: VerdictGrounds = { rules: traces, checks: [] };
  if (!intent.ok) return { outcome: { refusal: intent.refusal, refusedAction: null }, grounds: unchecked };
  const { action, made } = intent;
  if (input.ruleset === null) return { outcome: { action }, grounds: unchecked };
  const { checks, refusal, corrected } = checkAction(action, situationOf(input.npcState, input.context, dialogue));
  const why = forbiddenBy(matches, action) ?? (made ? null : contradicts(matches, action)) ?? refusal;
  return {
    outcome: why === null ? { action: corrected ?? action } : { refusal: why, refusedAction: action },
    grounds: { rules: traces, checks },
  };
};

/**
 * Decides on a model's text (contract 2.8): reads it leniently, holds its action against rules and bridge, bounds its state change.
 * Never throws, whatever the text. A refusal has the shape of contract 2.4.
 */
export const reachVerdict = (input: DecisionInput, generatedOutput: string): ReachedVerdict => {
  const said = readModelText(generatedOutput);
  const { outcome, grounds } = judge(input, intentOf(said), said.dialogue);
  if ('refusal' in outcome) return { verdict: refuse(outcome.refusal, outcome.refusedAction), grounds };
  const { action } = outcome;
  const change = readStateChange(said.stateChange);
  if (!change.ok) {
    const reason = `The state change cannot be taken. ${change.problem}`;
    return { verdict: refuse({ code: 'STATE_CHANGE_INVALID', reason, details: {} }, action), grounds };
  }
  const cut = action.type === 'SPEAK' && input.ruleset !== null;
  return {
    verdict: {
      valid: true,
      dialogue: cut ? cutText(said.dialogue, SPEECH_CHARS) : said.dialogue,
      action: { ...action, target: action.target ?? '' },
      stateDelta: change.patch,
      memoryStore: remembered(said, input.observation),
    },
    grounds,
  };
};
