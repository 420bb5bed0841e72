import { asAnswered, checkAction, situationOf } from '../../../rules/domain/bridge/validate.js';
import { SPEECH_CHARS } from '../../../rules/domain/bridge/core-rules.js';
import { type BridgeRefusal, brokenBy, forbiddenBy } from '../../../rules/domain/bridge/refusal.js';
import { speechOf, withSpeech } from '../../../rules/domain/bridge/world.js';
import { matchRules } from '../../../rules/domain/match.js';
import { isObject, type Json, jsonBytes, type JsonObject } from '../../../../kernel/base/json.js';
import { mergePatch } from '../../../../kernel/base/merge-patch.js';
import { shortenedObject } from '../../../../kernel/base/shorten.js';
import { cutBytes, cutJsonText, cutText } from '../../../../kernel/base/text.js';
import type { MemoryDraft, Verdict, VerdictGrounds } from '../../../npcs/domain/events.js';
import { type Action, readAction } from '../../../rules/domain/bridge/action.js';
import { DATA_BYTES, dataMayBecome } from '../../../npcs/domain/mind-data.js';
import { ACTION_BYTES, DETAILS_BYTES, DIALOGUE_BYTES, MEMORY_BYTES } from '../../../npcs/domain/recorded-bytes.js';
import { guardText } from './guard-text.js';
import type { DecisionInput } from './input.js';
import {
  ACTION_DEPTH,
  DEFAULT_IMPORTANCE,
  DEFAULT_MEMORY_TYPE,
  type ModelOutput,
  readModelText,
  recordable,
} from './model-text.js';
import { untilChatToken } from './templates.js';

export type ReachedVerdict = { readonly verdict: Verdict; readonly grounds: VerdictGrounds };

/** The model's intent: its written action, or one derived from its words (`made`). */
type Intent =
  | { readonly ok: true; readonly action: Action; readonly made: boolean }
  | { readonly ok: false; readonly refusal: BridgeRefusal };

const tooLarge = (reason: string): Intent => ({
  ok: false,
  refusal: {
    code: 'ACTION_TOO_LARGE',
    reason,
    details: { limitBytes: ACTION_BYTES, limitDepth: ACTION_DEPTH },
  },
});

/** The words of an action are spoken like dialogue: chat tokens end them. */
const withoutChatTokens = (action: Action): Action => {
  const said = action.type === 'SPEAK' ? speechOf(action) : undefined;
  return said === undefined ? action : withSpeech(action, said, untilChatToken(said.text));
};

/** Plain dialogue is `SPEAK`; an answer without words and action, which only stores memories or changes state, is `IDLE`. */
const intentOf = ({ action: written, excess, dialogue, structured }: ModelOutput): Intent => {
  if (excess !== null) return tooLarge(excess);
  if (written === undefined) {
    return { ok: true, action: { type: structured && dialogue === '' ? 'IDLE' : 'SPEAK' }, made: true };
  }
  const read = readAction(written);
  if (!read.ok) return { ok: false, refusal: { code: read.code, reason: read.reason, details: {} } };
  // A model cannot sign: a signature in its output is ordinary text.
  const { signature: _, ...action } = read.action;
  if (jsonBytes(action as Json) > ACTION_BYTES) return tooLarge(`The action is larger than ${ACTION_BYTES} bytes.`);
  return { ok: true, action: withoutChatTokens(action), made: false };
};

const remembered = (said: ModelOutput, observation: string): readonly MemoryDraft[] => {
  if (said.memories.length > 0) return said.memories;
  if (observation.trim() === '') return [];
  const text = cutBytes(observation.toWellFormed(), MEMORY_BYTES);
  return [{ text, type: DEFAULT_MEMORY_TYPE, importance: DEFAULT_IMPORTANCE }];
};

const refuse = (refusal: BridgeRefusal, refusedAction: Action | null): Verdict => ({
  valid: false,
  // A reason quotes the model's text, and is spoken.
  dialogue: cutJsonText(guardText(refusal.reason), DIALOGUE_BYTES),
  action: null,
  stateDelta: {},
  memoryStore: [],
  refusedAction,
  code: refusal.code,
  details: shortenedObject(refusal.details, DETAILS_BYTES),
});

type Judged = {
  /** The allowed action, or the reason for the refusal. */
  readonly outcome:
    { readonly action: Action } | { readonly refusal: BridgeRefusal; readonly refusedAction: Action | null };
  readonly grounds: VerdictGrounds;
};

/** Checks an intent against the rules, then against the world; without a ruleset, checks only its shape. */
const judge = (input: DecisionInput, intent: Intent, dialogue: string): Judged => {
  if (!intent.ok) {
    const { trace } = matchRules(input.ruleset, input);
    return { outcome: { refusal: intent.refusal, refusedAction: null }, grounds: { ...trace, checks: [] } };
  }
  const { action, made } = intent;
  if (input.ruleset === null) return { outcome: { action }, grounds: { rules: [], seen: [], checks: [] } };
  const { checks, refusal, corrected } = checkAction(action, situationOf(input.npcState, input.context, dialogue));
  const standing = corrected ?? action;
  const { matches, trace } = matchRules(input.ruleset, { ...input, action: asAnswered(standing) });
  const why = (made ? forbiddenBy(matches, action) : brokenBy(matches, action)) ?? refusal;
  return {
    outcome: why === null ? { action: standing } : { refusal: why, refusedAction: action },
    grounds: { ...trace, checks },
  };
};

/** The limits of a state change: levels of nesting, total members, bytes of JSON. */
const STATE_CHANGE_DEPTH = 8;
const STATE_CHANGE_KEYS = 64;
export const STATE_CHANGE_BYTES = 16_384;

type ReadStateChange =
  { readonly ok: true; readonly patch: JsonObject } | { readonly ok: false; readonly problem: string };

type Measure = { keys: number; problem: string | null };

/** Counts members and visits every value down to the allowed depth, and no further. */
const measure = (value: Json, depth: number, seen: Measure): void => {
  if (typeof value === 'number' && !Number.isFinite(value))
    seen.problem = 'It holds a number that JSON has no form for.';
  if (typeof value !== 'object' || value === null || seen.problem !== null) return;
  if (depth > STATE_CHANGE_DEPTH) {
    seen.problem = `It is nested deeper than ${STATE_CHANGE_DEPTH} levels.`;
    return;
  }
  if (isObject(value)) {
    seen.keys += Object.keys(value).length;
    if (seen.keys > STATE_CHANGE_KEYS) {
      seen.problem = `It has more than ${STATE_CHANGE_KEYS} keys.`;
      return;
    }
  }
  for (const member of Object.values<Json>(value)) measure(member, depth + 1, seen);
};

/** Reads the state change that a model requests; no change is an empty one. `data` is what it would change; it has its own limit. */
const readStateChange = (value: Json | undefined, data: JsonObject): ReadStateChange => {
  if (value === undefined) return { ok: true, patch: {} };
  if (!isObject(value)) return { ok: false, problem: 'It is no object.' };
  const seen: Measure = { keys: 0, problem: null };
  measure(value, 1, seen);
  if (seen.problem !== null) return { ok: false, problem: seen.problem };
  const patch = recordable(value) as JsonObject;
  if (jsonBytes(patch) > STATE_CHANGE_BYTES) {
    return { ok: false, problem: `It is larger than ${STATE_CHANGE_BYTES} bytes.` };
  }
  return Object.keys(patch).length === 0 || dataMayBecome(data, mergePatch(data, patch))
    ? { ok: true, patch }
    : { ok: false, problem: `It would make the data larger than ${DATA_BYTES} bytes.` };
};

/**
 * Judges a model's text: reads it leniently, checks its action against rules and bridge, and limits its state change. Never throws, whatever the
 * text. A refusal has no action, memories or state change.
 */
export const reachVerdict = (input: DecisionInput, generatedOutput: string): ReachedVerdict => {
  const said = readModelText(generatedOutput);
  const { outcome, grounds } = judge(input, intentOf(said), said.dialogue);
  if ('refusal' in outcome) return { verdict: refuse(outcome.refusal, outcome.refusedAction), grounds };
  const { action } = outcome;
  const change = readStateChange(said.stateChange, input.data);
  if (!change.ok) {
    const reason = `The state change cannot be taken. ${change.problem}`;
    return { verdict: refuse({ code: 'STATE_CHANGE_INVALID', reason, details: {} }, action), grounds };
  }
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
