/** Requests about agents, and what a server answered, for the documentation. Long texts are cut. */

export const agentExamples = {
  input: {
    input: 'Does the miller owe you money?',
    context: {
      place: 'the bar',
    },
  },
  engineTest: {
    cortexId: 'openai',
    name: 'llama3.1:8b',
    passed: true,
    checks: [
      { check: 'reachable', result: 'passed', message: 'The engine answers.' },
      { check: 'schema', result: 'passed', message: 'The engine obeys a JSON schema (response_format).' },
      { check: 'reasoning', result: 'passed', message: 'The engine shows no reasoning.' },
      { check: 'context', result: 'notJudged', message: 'The engine does not say how many tokens it takes.' },
      {
        check: 'speed',
        result: 'passed',
        message: 'The text of a turn took 1.84 s (22.3 tokens per second).',
        figures: { seconds: 1.84, tokens: 41, tokensPerSecond: 22.3 },
      },
      { check: 'turn', result: 'passed', message: 'The NPC says: "Evening. Three coins for a room."' },
    ],
  },
  answer: {
    dialogue: 'The miller owes the inn nine coins. That is what I know.',
    action: {
      type: 'SPEAK',
      target: '',
    },
    stateChanges: {},
    memoriesRecalled: ['The miller owes the inn nine coins.'],
    turnId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH',
  },
};
