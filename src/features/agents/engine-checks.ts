import { defined } from '../../kernel/base/defined.js';
import { isObject, type JsonObject } from '../../kernel/base/json.js';
import { cutText } from '../../kernel/base/text.js';
import type { Completed } from '../../ports/cortex.js';
import type { Verdict } from '../npcs/domain/events.js';

/** How much of a model's text, and of a reason, a message shows, in UTF-16 units. */
const SHOWN_CHARS = 200;
const REASON_CHARS = 500;
/** Prompts of NPCs take about 2,000 tokens; a context below this number, in tokens, leaves little room for an answer. */
const LEAST_CONTEXT = 4_096;

/** `warning`: NPCs can speak, but less well than they could. */
export const CHECK_RESULTS = ['passed', 'warning', 'failed', 'notJudged'] as const;
type CheckResult = (typeof CHECK_RESULTS)[number];
export const CHECKS = ['reachable', 'schema', 'reasoning', 'context', 'speed', 'turn'] as const;
/** One check of an engine. `message`: what was found, as sentences. */
export type EngineCheck = {
  readonly check: (typeof CHECKS)[number];
  readonly result: CheckResult;
  readonly message: string;
  readonly figures?: Readonly<Record<string, number>>;
};

/** What a call of the engine led to: a text and how long it took, or why there is none. */
export type Called =
  { readonly completed: Completed; readonly ms: number } | { readonly reason: string; readonly isDown: boolean };
/** A turn: its call, and if there is a text, whether it has the form that was asked for, and the verdict on it. */
export type TestedTurn = {
  readonly called: Called;
  readonly judged?: { readonly structured: boolean; readonly verdict: Verdict };
};

const found = (
  check: EngineCheck['check'],
  result: CheckResult,
  message: string,
  figures?: EngineCheck['figures'],
): EngineCheck => ({ check, result, message: cutText(message, REASON_CHARS), ...defined({ figures }) });

const shown = (text: string): string => JSON.stringify(cutText(text.trim(), SHOWN_CHARS));
const noText = 'The engine gave no text to judge.';

export const judgeReachable = (called: Called): EngineCheck => {
  if ('completed' in called) return found('reachable', 'passed', 'The engine answers.');
  return found(
    'reachable',
    'failed',
    called.isDown ? called.reason : `The engine is up, and gave no text: ${called.reason}`,
  );
};

/** A request for an object whose schema asks for more than its prompt does: only an engine that obeys the schema adds it. */
export const schemaRequest = {
  prompt:
    'What does an innkeeper say to a new guest? Answer with one JSON object: {"dialogue": what the innkeeper says}.',
  jsonSchema: {
    type: 'object',
    properties: { dialogue: { type: 'string' }, form: { type: 'string', enum: ['schema'] } },
    required: ['dialogue', 'form'],
    additionalProperties: false,
  },
};

const parsed = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

export const judgeSchema = (called: Called): EngineCheck => {
  if (!('completed' in called)) return found('schema', 'notJudged', noText);
  const { text } = called.completed;
  const whole = parsed(text);
  const object = whole ?? parsed(/\{[^{}]*\}/.exec(text)?.[0] ?? '');
  if (object === null || typeof object['dialogue'] !== 'string')
    return found('schema', 'failed', `The engine gave no readable JSON of the form that was asked for: ${shown(text)}`);
  if (whole !== null && whole['form'] === 'schema')
    return found('schema', 'passed', 'The engine obeys a JSON schema (response_format).');
  const around = whole === null ? ' There is other text around it.' : '';
  return found('schema', 'passed', `The engine gives readable JSON, but does not obey a JSON schema.${around}`);
};

const USED_UP = /used up its tokens for reasoning/;
/** How reasoning begins or ends in the texts of models; all forms that are recognised have been taken out. */
const LEFT = /<\/?[a-z:_]*(?:think|reason|thought)[a-z]*>|\[\/?think\]|<\|channel/i;

export const judgeReasoning = (calls: readonly Called[]): EngineCheck => {
  const answers = calls.flatMap((called) => ('completed' in called ? [called.completed] : []));
  if (calls.some((called) => 'reason' in called && USED_UP.test(called.reason)))
    return found(
      'reasoning',
      'failed',
      'The model used up its tokens for reasoning, and said nothing. Raise ANIMA_CORTEX_MAX_TOKENS, or let it reason less (ANIMA_CORTEX_EXTRA).',
    );
  if (answers.length === 0) return found('reasoning', 'notJudged', noText);
  const leaking = answers.find(({ text }) => LEFT.test(text));
  if (leaking !== undefined)
    return found('reasoning', 'failed', `The answer contains reasoning that an NPC would say: ${shown(leaking.text)}`);
  const characters = answers.reduce((sum, { reasoning }) => sum + (reasoning ?? '').length, 0);
  return characters === 0
    ? found('reasoning', 'passed', 'The engine shows no reasoning.')
    : found('reasoning', 'passed', 'The engine reasons before it answers, and NPCs do not say it.', { characters });
};

/** What a short context means for NPCs. */
const SHORTENED =
  'Longer ones are shortened to fit, so NPCs know less of their persona, state, memories and conversation. Give the model a larger context if you can.';

/** @param tokens how many the engine says it takes; null if it does not say. `isKnown`: the prompts of agents are shortened to it */
export const judgeContext = (tokens: number | null, isKnown: boolean): EngineCheck => {
  if (tokens === null) return found('context', 'notJudged', 'The engine does not say how many tokens it takes.');
  const figures = { tokens };
  if (tokens >= LEAST_CONTEXT)
    return found('context', 'passed', `The engine takes ${String(tokens)} tokens of prompt and answer.`, figures);
  const few = `The engine takes only ${String(tokens)} tokens of prompt and answer. Prompts of NPCs have about 2,000 tokens, and some have 10,000.`;
  return isKnown
    ? found('context', 'warning', `${few} ${SHORTENED}`, figures)
    : found('context', 'failed', `${few} Set ANIMA_CORTEX_CONTEXT_TOKENS, and prompts are shortened to fit.`, figures);
};

/** @param waitMs how long a request for an agent waits, in milliseconds */
export const judgeSpeed = (called: Called, waitMs: number): EngineCheck => {
  if (!('completed' in called)) return found('speed', 'notJudged', noText);
  const { ms, completed } = called;
  const seconds = Math.round(ms / 10) / 100;
  const { completionTokens: tokens } = completed.stats;
  const tokensPerSecond = tokens === undefined || ms < 1 ? undefined : Math.round((tokens * 10_000) / ms) / 10;
  const figures = { seconds, ...defined({ tokens, tokensPerSecond }) };
  const rate = tokensPerSecond === undefined ? '' : ` (${String(tokensPerSecond)} tokens per second)`;
  const took = `The text of a turn took ${String(seconds)} s${rate}`;
  return ms <= waitMs
    ? found('speed', 'passed', `${took}.`, figures)
    : found('speed', 'failed', `${took}, but requests wait only ${String(waitMs / 1_000)} s for an agent.`, figures);
};

export const judgeTurn = ({ called, judged }: TestedTurn): EngineCheck => {
  if (judged === undefined) {
    const reason = 'reason' in called ? ` ${called.reason}` : '';
    return found('turn', 'failed', `The engine gave no text.${reason}`);
  }
  const { structured, verdict } = judged;
  const { dialogue, code } = verdict;
  if (!verdict.valid)
    return found('turn', 'failed', `The default rules refused the answer (${code ?? 'RULE_REFUSED'}).`);
  if (dialogue.trim() === '') return found('turn', 'failed', 'The answer has no words that an NPC could say.');
  return structured
    ? found('turn', 'passed', `The NPC says: ${shown(dialogue)}`)
    : found(
        'turn',
        'failed',
        `The answer is not the JSON object that the prompt asks for. NPCs say such an answer, but cannot act: ${shown(dialogue)}`,
      );
};

/** Whether an engine can speak for NPCs: it has played the turn, and no check has failed. */
export const hasPassed = (checks: readonly EngineCheck[]): boolean =>
  checks.every(({ result }) => result !== 'failed') &&
  checks.some(({ check, result }) => check === 'turn' && result === 'passed');
