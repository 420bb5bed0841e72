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

/** What a model may feel, and that it cannot wake up by itself. */
export const moodsAndStatus: readonly StateRule[] = [
  { path: 'status', writer: 'game' },
  { path: 'mood', writer: 'model' },
  { path: 'relationships', writer: 'model' },
];
