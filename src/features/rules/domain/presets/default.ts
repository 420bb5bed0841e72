import type { RulesetContent } from '../ruleset.js';
import { incapacitated, moodsAndStatus } from './incapacitated.js';
import { presetRule as rule } from './preset-rule.js';

export const defaultPreset: RulesetContent = {
  rulesetId: 'default',
  template: 'Raw',
  grammar: 2,
  ruleRefusal: 'No… I cannot.',
  rulesetRules: [
    incapacitated,
    rule('wounded', 'Badly wounded', {
      ruleCondition: [
        ['hp', '>0'],
        ['hp', '<25'],
      ],
      ruleAction: 'avoid every fight and look for help',
      ruleReason: 'Wounds make it careful.',
      rulePriority: 50,
      rulePromptSuffix: 'You are badly wounded: speak with effort and stay out of danger.',
    }),
    rule('theft', 'Theft', {
      ruleObsPattern: '\\b(steal|steals|stole|stolen|stealing|thief|thieves|rob|robs|robbed|pickpocket)\\b',
      ruleAction: 'react to the theft as your character would',
      ruleReason: 'Theft is remembered.',
      rulePriority: 40,
      rulePromptSuffix: 'Something is being stolen: recall who was wronged before.',
    }),
    rule('greeting', 'A greeting', {
      ruleObsPattern: '\\b(hello|hi|greetings|good (morning|day|evening))\\b',
      ruleAction: 'answer the greeting',
      rulePriority: 10,
      rulePromptSuffix: 'Greet in the tone of your mood.',
    }),
  ],
  ruleState: moodsAndStatus,
  observationChars: 3_276,
};
