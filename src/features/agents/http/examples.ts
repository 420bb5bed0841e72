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
  prompt: {
    prompt:
      'Who you are: "Mira keeps the inn."\n\nWhat you remember:\n- two hours ago: "The miller owes the inn nine coins."\n\nAnswer with one JSON object: …\n\nObservation: "Does the miller owe you money?"\n\nAnswer:',
    messages: [
      {
        role: 'system',
        content:
          'Who you are: "Mira keeps the inn."\n\nWhat you remember:\n- two hours ago: "The miller owes the inn nine coins."\n\nAnswer with one JSON object: …',
      },
      { role: 'user', content: '"Does the miller owe you money?"' },
    ],
    constraints: { maxTokens: 512, temperature: 0.7 },
    parts: [
      { text: 'Who you are: "Mira keeps the inn."', from: 'persona' as const },
      { text: 'What you remember:', from: 'instruction' as const },
      {
        text: 'two hours ago: "The miller owes the inn nine coins."',
        from: 'memory' as const,
        ref: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH-0',
      },
      { text: 'Answer with one JSON object: …', from: 'instruction' as const },
      { text: '"Does the miller owe you money?"', from: 'observation' as const },
    ],
    tokens: 94,
    promptBudget: null,
    isShortened: false,
    leftOut: [],
    memories: [
      {
        text: 'The miller owes the inn nine coins.',
        type: 'observation',
        importance: 0.5,
        similarity: 0.71,
        memoryId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH-0',
        revision: 4,
        storedAt: '2026-03-02T10:00:00.000Z',
        scoreParts: { meaning: 0.7, words: 0.8 },
      },
    ],
    ruleset: { rulesetId: 'default', version: 0, digest: 'XKcKoPWNEB_RV4kb9GRZ5HiDZMW8Kz5Fxz2TUXNMMF0' },
    logic: 4,
    promptAt: '2026-03-02T12:00:00.000Z',
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
