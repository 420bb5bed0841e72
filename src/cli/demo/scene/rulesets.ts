import type { RulesetToRegister } from '../../../body/protocol.js';

type NamedRuleset = RulesetToRegister & { readonly rulesetId: string };

/** The innkeeper's house rules. */
export const innRules: NamedRuleset = {
  rulesetId: 'demo-inn',
  template: 'ChatML',
  rulesetRules: [
    {
      drRuleId: 'house-voice',
      ruleName: 'The voice of the house',
      ruleCondition: [['trade', 'innkeeper']],
      ruleAction: 'answer as a tired, honest innkeeper',
      rulePriority: 1,
      rulePromptSuffix: 'You are dry, brief and kind by deed. You never flatter a guest.',
    },
    {
      drRuleId: 'no-blood',
      ruleName: 'No blood under this roof',
      ruleCondition: [['action.type', 'ATTACK']],
      ruleAction: 'FORBID ATTACK',
      ruleReason: 'No hand is raised under this roof. That is the law of the house, as it was in her mother’s day.',
      rulePriority: 100,
    },
    {
      drRuleId: 'kitchen-closed',
      ruleName: 'The kitchen closes at ten',
      ruleCondition: [['context.hour', '>=22']],
      ruleObsPattern: '\\b(bread|stew|supper|eat)\\b',
      ruleAction: 'FORBID GIVE',
      ruleReason: 'The kitchen fire is out after ten, and the food on the shelf is for breakfast.',
      rulePriority: 50,
    },
  ],
};

/** The standing orders of the watchman, who must be awake to follow them. */
export const watchRules: NamedRuleset = {
  rulesetId: 'demo-watch',
  template: 'Llama3',
  rulesetRules: [
    {
      drRuleId: 'asleep',
      ruleName: 'A sleeping man does nothing',
      ruleCondition: [['asleep', 'true']],
      ruleAction: 'FORBID *',
      ruleReason: 'Sergeant Brack is asleep, and a sleeping man neither speaks nor acts.',
      rulePriority: 100,
    },
    {
      drRuleId: 'hold-the-door',
      ruleName: 'When the bell rings, the watch holds the door',
      ruleCondition: [['context.alarm', 'raised']],
      ruleAction: 'BLOCK',
      ruleTarget: 'front door',
      ruleReason: 'While the bell rings, the sergeant’s place is at the front door and nowhere else.',
      rulePriority: 50,
      rulePromptSuffix: 'The bell is ringing. Your standing order is to hold the front door.',
    },
    {
      drRuleId: 'no-warrant',
      ruleName: 'No arrest without a warrant',
      ruleCondition: [
        ['context.alarm', 'quiet'],
        ['warrant', 'unsigned'],
      ],
      ruleAction: 'FORBID ARREST',
      ruleReason: 'No arrest without a signed warrant: it is the first line of the watch book.',
      rulePriority: 40,
    },
  ],
};
