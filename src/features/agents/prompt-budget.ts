import type { CortexEngine } from '../../ports/cortex.js';
import { ANSWER_TOKENS } from '../turns/domain/decision/prompt.js';

/** The part of a context that prompts keep, however long the operator lets answers become. The answer has the other one. */
const LEAST_PART = 1 / 2;

/** How many tokens a prompt for this engine may take: its context without the answer. null: no limit is known. */
export const promptBudgetOf = ({
  knownContext,
  inTurns,
}: Pick<CortexEngine, 'knownContext' | 'inTurns'>): number | null => {
  const context = knownContext?.() ?? null;
  if (context === null) return null;
  return Math.max(context - (inTurns?.maxTokens ?? ANSWER_TOKENS), Math.floor(context * LEAST_PART));
};

/**
 * How many tokens an answer may take: what its operator says, within the context beside the prompt.
 * @param budget of a prompt that the engine refused for its length: the answer gets no more than the prompt, which leaves room for both
 */
export const answerTokensOf = (engine: Pick<CortexEngine, 'knownContext' | 'inTurns'>, budget = Infinity): number => {
  const context = engine.knownContext?.() ?? null;
  const room = context === null ? Infinity : context - (promptBudgetOf(engine) ?? 0);
  return Math.min(engine.inTurns?.maxTokens ?? ANSWER_TOKENS, room, budget);
};
