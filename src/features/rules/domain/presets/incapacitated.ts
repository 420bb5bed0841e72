import type { DirectiveRule } from '../ruleset.js';
import type { StateRule } from '../state-rules/state-rule.js';
import { presetRule } from './preset-rule.js';

/** The highest rule of every preset. */
export const incapacitated: DirectiveRule = presetRule('incapacitated', 'Asleep or unconscious', {
  ruleCondition: [['status', 'asleep|unconscious|stunned']],
  ruleAction: 'FORBID *',
  ruleReason: 'It cannot act in this condition.',
  ruleRefusal: 'Mmmh…',
  rulePriority: 1_000,
});

/** The model writes moods and relationships. Only the game wakes an NPC up. */
export const moodsAndStatus: readonly StateRule[] = [
  { path: 'status', writer: 'game' },
  { path: 'mood', writer: 'model' },
  { path: 'relationships', writer: 'model' },
];
