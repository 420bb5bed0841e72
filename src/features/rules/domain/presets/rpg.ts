import type { DirectiveRule, RulesetContent } from '../ruleset.js';
import { incapacitated, moodsAndStatus } from './incapacitated.js';
import { presetRule as rule } from './preset-rule.js';

const silenced: Partial<DirectiveRule> = {
  ruleAction: 'FORBID CAST',
  ruleReason: 'Under silence no spell can be spoken.',
  ruleRefusal: 'The words will not come. Something holds my tongue.',
  rulePriority: 150,
};

export const rpgPreset: RulesetContent = {
  rulesetId: 'rpg',
  template: 'Llama3',
  grammar: 2,
  ruleRefusal: 'No… that is beyond me.',
  rulesetRules: [
    incapacitated,
    rule('friendly-fire', 'No attack on friends', {
      ruleCondition: [['relation', 'friend|ally']],
      ruleAction: 'FORBID ATTACK',
      ruleReason: 'It does not raise a hand against friends.',
      ruleRefusal: 'Put that thought away. I do not raise a hand against friends.',
      rulePriority: 200,
    }),
    // Games list effects as names or as objects.
    rule('silenced', 'No magic under silence', { ...silenced, ruleCondition: [['effects', 'silence|silenced']] }),
    rule('silenced-effect', 'No magic under an effect of silence', {
      ...silenced,
      ruleCondition: [['effects.id', 'silence|silenced']],
    }),
    rule('flee', 'Flee when nearly dead', {
      ruleCondition: [
        ['hp', '>0'],
        ['hp', '<=10'],
        ['context.combat', 'true'],
      ],
      ruleAction: 'REQUIRE FLEE',
      ruleOnBreak: 'replace',
      ruleReason: 'So badly wounded, it only wants to get away.',
      ruleRefusal: 'Enough! I will not die here!',
      rulePriority: 120,
      rulePromptSuffix: 'You are nearly dead: flee.',
    }),
    rule('quest', 'Talk of a quest', {
      ruleObsPattern: '\\b(quest|task|reward|bounty|mission)s?\\b',
      ruleAction: 'speak of the quests that you know',
      rulePriority: 20,
      rulePromptSuffix: 'Recall which quests you gave and how they ended.',
    }),
    rule('trade', 'Talk of trade', {
      ruleObsPattern: '\\b(buy|sell|trade|price|gold|coin)s?\\b',
      ruleAction: 'bargain within your means',
      rulePriority: 10,
      rulePromptSuffix: 'Offer only what you own.',
    }),
  ],
  ruleState: [...moodsAndStatus, { path: 'relation', writer: 'game' }, { path: 'effects', writer: 'game' }],
  observationChars: 4_915,
};
