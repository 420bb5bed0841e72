import { defined } from '../../kernel/base/defined.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { Clock } from '../../ports/clock.js';
import type { Completion, CortexEngine } from '../../ports/cortex.js';
import type { Exchange } from '../npcs/domain/events.js';
import { declarationsOf } from '../rules/domain/actions/action-declaration.js';
import { defaultPreset } from '../rules/domain/presets/default.js';
import { CURRENT_LOGIC, logicOf } from '../turns/domain/decision/logic.js';
import { heldPatterns } from '../turns/domain/decision/observation-line.js';
import { answerTokensOf, promptBudgetOf } from './prompt-budget.js';
import {
  type Called,
  type EngineCheck,
  judgeContext,
  judgeReachable,
  judgeReasoning,
  judgeSchema,
  judgeSpeed,
  judgeTurn,
  schemaRequest,
  type TestedTurn,
} from './engine-checks.js';

/** How long one call, and all of them together, may take, in milliseconds. */
export const TEST_CALL_MS = 30_000;
export const TEST_MS = 60_000;

const ruleset = { ...defaultPreset, version: 0 };
const npc = {
  npcId: 'innkeeper',
  persona: 'The keeper of a small inn at a crossroads: friendly, and short of words. A room costs three coins.',
  observation: 'A traveller asks: "Good evening. What does a room cost?"',
};
/** What was said before: model servers have to take the messages of a conversation. */
const earlier: Exchange = {
  turnId: 'earlier',
  heard: 'A traveller opens the door and looks around.',
  answered: {
    dialogue: 'Come in, and close the door.',
    action: { type: 'SPEAK', target: 'traveller' },
    stateDelta: {},
  },
};

export type EngineTestDeps = {
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  /** How long a request for an agent waits, in milliseconds. */
  readonly agentWaitMs: number;
};

/** The request of a turn, and how its text is judged: as a real turn of an agent, with the default rules, recorded nowhere. */
const turnOf = async (engine: CortexEngine) => {
  const logic = logicOf(CURRENT_LOGIC);
  const { npcId, persona, observation } = npc;
  const patternsHeld = await inSlices(heldPatterns(ruleset, observation));
  const facts = {
    npcId,
    mind: { persona, data: null, facts: {}, revision: 0 },
    ruleset,
    rulesetRef: null,
    issuer: { kid: '', iss: '' },
  };
  const input = logic.effectiveInput(facts, {
    ...{ observation, npcState: {}, patternsHeld, conversation: [earlier] },
    ...defined({ promptBudget: promptBudgetOf(engine) ?? undefined }),
  });
  const { prompt, constraints, chat, parts } = logic.buildPrompt(input);
  return {
    asked: { prompt, messages: chat, ...constraints, parts },
    judge: (text: string): TestedTurn['judged'] => ({
      structured: logic.texts.read(text, declarationsOf(ruleset)).structured,
      verdict: logic.reachVerdict(input, text).verdict,
    }),
  };
};

/** Why a call gave no text. @throws every other error */
const reasonOf = (error: unknown): Called => {
  if (!(error instanceof Rejection) || !['CORTEX_UNAVAILABLE', 'CORTEX_NO_ANSWER'].includes(error.code)) throw error;
  const { reason } = error.details;
  return {
    reason: typeof reason === 'string' ? reason : error.message,
    isDown: error.code === 'CORTEX_UNAVAILABLE',
  };
};

/**
 * Calls an engine a few times, and judges what it gives: whether it can speak for NPCs. It records nothing.
 * @throws the reason of the signal
 */
export const testEngine = async (
  { clock, agentWaitMs }: EngineTestDeps,
  engine: CortexEngine,
  signal?: AbortSignal,
): Promise<readonly EngineCheck[]> => {
  const untilMs = clock.monotonicMs() + TEST_MS;

  const limited = <T>(work: (limited: AbortSignal) => Promise<T>): Promise<T> => {
    const ms = Math.min(TEST_CALL_MS, Math.max(untilMs - clock.monotonicMs(), 0));
    const reason = `The engine did not respond within ${String(Math.ceil(ms / 1_000))} s.`;
    const late = () => new Rejection('CORTEX_UNAVAILABLE', { details: { cortexId: engine.id, reason }, retryAfter: 1 });
    return withTimeLimit(clock, { ms, late, signal }, work);
  };
  const call = async (asked: Completion): Promise<Called> => {
    const beganMs = clock.monotonicMs();
    const maxTokens = answerTokensOf(engine);
    const options = { ...asked, ...engine.inTurns, maxTokens, once: true };
    try {
      const completed = await limited((within) => engine.complete(options, within));
      return { completed, ms: clock.monotonicMs() - beganMs };
    } catch (error) {
      signal?.throwIfAborted();
      return reasonOf(error);
    }
  };
  const contextTokens = async (): Promise<number | null> => {
    try {
      return await limited(async (within) => (await engine.contextTokens?.(within)) ?? null);
    } catch {
      signal?.throwIfAborted();
      return null;
    }
  };

  const reached = await call({ prompt: 'Are you there? Answer with one word.', temperature: 0 });
  if ('isDown' in reached && reached.isDown) return whenDown(reached);
  const schema = engine.runtime === 'builtin' ? null : await call({ ...schemaRequest, temperature: 0 });
  const { asked, judge } = await turnOf(engine);
  const called = await call(asked);
  const judged = 'completed' in called ? judge(called.completed.text) : undefined;
  return [
    judgeReachable(reached),
    schema === null ? builtInSchema : judgeSchema(schema),
    judgeReasoning([reached, ...(schema === null ? [] : [schema]), called]),
    judgeContext(await contextTokens(), (engine.knownContext?.() ?? null) !== null),
    judgeSpeed(called, agentWaitMs),
    judgeTurn({ called, ...defined({ judged }) }),
  ];
};

/** The scripted engine reads the parts of turns, and no schema. */
const builtInSchema: EngineCheck = {
  check: 'schema',
  result: 'notJudged',
  message: 'The scripted engine reads no schema.',
};

/** An engine that is down is not called again: only its first check is judged. */
const whenDown = (reached: Called): readonly EngineCheck[] => [
  judgeReachable(reached),
  ...(['schema', 'reasoning', 'context', 'speed', 'turn'] as const).map((check): EngineCheck => ({
    check,
    result: 'notJudged',
    message: 'The engine is down.',
  })),
];
