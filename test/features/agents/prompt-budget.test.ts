import { describe, expect, it } from 'vitest';

import { answerTokensOf, promptBudgetOf } from '../../../src/features/agents/prompt-budget.js';

const engine = (context: number | null, maxTokens?: number) => ({
  knownContext: () => context,
  ...(maxTokens === undefined ? {} : { inTurns: { maxTokens } }),
});

describe('the context of an engine', () => {
  it('is shared by the prompt and its answer, whatever its size and the operator’s setting are [13.1a, 13.1g]', () => {
    for (const maxTokens of [undefined, 64, 512, 3_000, 32_768])
      for (const context of [512, 600, 1_024, 2_000, 4_096, 100_000]) {
        const of = engine(context, maxTokens);
        const budget = promptBudgetOf(of) ?? 0;
        expect(budget).toBeGreaterThanOrEqual(context / 2);
        expect(budget + answerTokensOf(of)).toBeLessThanOrEqual(context);
        // The same if only the engine's refusal told the context.
        expect(budget + answerTokensOf(engine(null, maxTokens), budget)).toBeLessThanOrEqual(context);
      }
  });

  it('limits nothing while it is not known [13.1a]', () => {
    expect(promptBudgetOf(engine(null))).toBeNull();
    expect([answerTokensOf(engine(null)), answerTokensOf(engine(null, 3_000))]).toEqual([512, 3_000]);
  });
});
