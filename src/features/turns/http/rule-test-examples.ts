/** A request that tests rules, and what a server answered, for the documentation. */

export const ruleTestExamples = {
  request: {
    ruleset: {
      rulesetId: 'tavern',
      rulesetRules: [
        {
          drRuleId: 'no-fights',
          ruleCondition: [['location', 'inn']],
          ruleAction: 'FORBID ATTACK',
          ruleReason: 'Nobody fights in the inn.',
        },
      ],
    },
    cases: [
      {
        name: 'nobody fights in the inn',
        given: { state: { location: 'inn' } },
        when: { observation: 'A guest insults you.', action: { type: 'ATTACK', target: 'the guest' } },
        then: { valid: false, drRuleId: 'no-fights' },
      },
      {
        name: 'words are allowed',
        given: { state: { location: 'inn' } },
        when: { output: 'Watch your tongue.' },
        then: { valid: true, dialogue: 'Watch your mouth.' },
      },
    ],
  },
  report: {
    ruleset: null,
    passed: 1,
    failed: 1,
    cases: [
      {
        name: 'nobody fights in the inn',
        passed: true,
        differences: [],
        notes: ['Refused by no-fights: Nobody fights in the inn.'],
      },
      {
        name: 'words are allowed',
        passed: false,
        differences: [{ member: 'dialogue', expected: 'Watch your mouth.', actual: 'Watch your tongue.' }],
        notes: [],
      },
    ],
  },
};
