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
  check: {
    grammar: 2,
    problems: [],
    warnings: [
      {
        drRuleId: 'no-fights',
        message:
          'The rule reads location, which the model may change. Say in ruleState who writes it: the game, or the model within limits.',
      },
    ],
    findings: [],
    judged: 1,
    notJudged: [],
  },
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
  versions: [
    {
      version: 1,
      registeredAt: '2026-11-28T09:30:00.000Z',
      digest: 'J1nTzd9l4tIhbyp1bWxYbVC7aYnVQxkuJrQBdvsmRyE',
      grammar: 2,
      rules: 1,
    },
  ],
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:anima:ruleset:2',
    title: 'A ruleset, as POST /rules takes it',
    type: 'object',
    properties: {
      rulesetId: { type: ['string', 'null'] },
    },
  },
  deleted: {
    rulesetId: 'tavern',
    deleted: true,
  },
};
