import type { TurnFacts } from './domain/decision/turn-facts.js';
import type { MindState } from '../npcs/domain/state.js';
import { defined } from '../../kernel/base/defined.js';
import type { ChosenRuleset } from '../rules/rulesets.js';

/** The facts of a decision, from the chosen rules and the current mind. */
export const factsFrom = (
  npcId: string,
  chosen: ChosenRuleset,
  mind: Pick<MindState, 'persona' | 'data' | 'facts' | 'revision'>,
  issuer: TurnFacts['issuer'],
  patternsHeld: readonly string[] = [],
): TurnFacts => ({
  npcId,
  mind: { persona: mind.persona, data: mind.data, facts: mind.facts ?? {}, revision: mind.revision },
  ruleset: chosen.ruleset,
  rulesetRef: chosen.used,
  ...defined({ rulesetMissing: chosen.missing }),
  ...(patternsHeld.length === 0 ? {} : { patternsHeld }),
  issuer,
});
