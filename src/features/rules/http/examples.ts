/** Requests about rule sets, and what a server answered, for the documentation. Long texts are cut. */

export const ruleExamples = {
  register: {
    rulesetId: 'tavern',
    rulesetRules: [
      {
        drRuleId: 'no-fights',
        ruleName: 'No fights',
        ruleCondition: [['location', 'inn']],
        ruleAction: 'FORBID ATTACK',
        ruleReason: 'Nobody fights in the inn.',
        rulePriority: 10,
      },
    ],
    template: 'ChatML',
  },
  registered: {
    rulesetId: 'tavern',
    rulesetRules: [
      {
        drRuleId: 'no-fights',
        ruleName: 'No fights',
        ruleCondition: [['location', 'inn']],
        ruleAction: 'FORBID ATTACK',
        ruleReason: 'Nobody fights in the inn.',
        ruleTarget: null,
        rulePriority: 10,
        ruleObsPattern: null,
        rulePromptSuffix: null,
      },
    ],
    template: 'ChatML',
    grammar: 2,
    version: 1,
    warnings: [],
  },
  list: [
    {
      rulesetId: 'tavern',
      rulesetRules: [
        {
          drRuleId: 'no-fights',
          ruleName: 'No fights',
          ruleCondition: [['location', 'inn']],
          ruleAction: 'FORBID ATTACK',
          ruleReason: 'Nobody fights in the inn.',
          ruleTarget: null,
          rulePriority: 10,
          ruleObsPattern: null,
          rulePromptSuffix: null,
        },
      ],
      template: 'ChatML',
      grammar: 2,
      version: 1,
    },
  ],
  presets: ['default', 'social', 'rpg'],
  preset: {
    rulesetId: 'default',
    template: 'Raw',
    rulesetRules: [
      {
        drRuleId: 'incapacitated',
        ruleName: 'Asleep or unconscious',
        ruleCondition: [['status', 'asleep|unconscious|stunned']],
        ruleAction: 'FORBID *',
        ruleReason: 'It cannot act in this condition.',
        ruleTarget: null,
        rulePriority: 1000,
        ruleObsPattern: null,
        rulePromptSuffix: null,
        ruleRefusal: 'Mmmh…',
      },
    ],
    grammar: 2,
    ruleRefusal: 'No… I cannot.',
    ruleState: [
      { path: 'status', writer: 'game' },
      { path: 'mood', writer: 'model' },
      { path: 'relationships', writer: 'model' },
    ],
    version: 1,
    warnings: [],
  },
  set: {
    rulesetId: 'tavern',
    rulesetRules: [
      {
        drRuleId: 'no-fights',
        ruleName: 'No fights',
        ruleCondition: [['location', 'inn']],
        ruleAction: 'FORBID ATTACK',
        ruleReason: 'Nobody fights in the inn.',
        ruleTarget: null,
        rulePriority: 10,
        ruleObsPattern: null,
        rulePromptSuffix: null,
      },
    ],
    template: 'ChatML',
    grammar: 2,
    version: 1,
  },
  deleted: {
    rulesetId: 'tavern',
    deleted: true,
  },
};
