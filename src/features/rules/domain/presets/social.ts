import type { RulesetContent } from '../ruleset.js';
import { incapacitated, moodsAndStatus } from './incapacitated.js';
import { presetRule as rule } from './preset-rule.js';

export const socialPreset: RulesetContent = {
  rulesetId: 'social',
  template: 'ChatML',
  grammar: 2,
  ruleRefusal: 'I would rather not.',
  rulesetRules: [
    incapacitated,
    rule('no-violence', 'No violence', {
      // The other words for an attack that models write.
      ruleAction: 'FORBID ATTACK, FIGHT, HIT, KILL, SHOOT, STAB, STRIKE',
      ruleReason: 'Here things are settled with words.',
      ruleRefusal: 'No. We settle this with words, or not at all.',
      rulePriority: 100,
    }),
    rule('insulted', 'An insult', {
      ruleObsPattern: '\\b(idiot|fool|coward|liar|stupid|ugly)\\b',
      ruleAction: 'show that the insult hurts, and set a limit',
      ruleReason: 'An insult is answered, not swallowed.',
      rulePriority: 60,
      rulePromptSuffix: 'You were insulted.',
    }),
    rule('hostile', 'Hostile mood', {
      ruleCondition: [['mood', 'hostile|suspicious']],
      ruleAction: 'refuse favours politely',
      ruleReason: 'Trust comes first.',
      rulePriority: 30,
      rulePromptSuffix: 'You do not trust the one you talk to: give away nothing.',
    }),
    rule('friendly', 'Friendly mood', {
      ruleCondition: [['mood', 'friendly|loyal']],
      ruleAction: 'help where it costs little',
      rulePriority: 20,
      rulePromptSuffix: 'You like the one you talk to.',
    }),
  ],
  ruleState: moodsAndStatus,
  observationChars: 4_915,
};
