/** Requests about turns, and what a server answered, for the documentation. Long texts are cut. */

export const turnExamples = {
  players: [
    {
      id: 'p-ann',
      name: 'Ann',
      from: 'body',
      since: '2026-11-27T18:47:21.833Z',
      lastAt: '2026-11-27T18:52:02.118Z',
      turns: 4,
      standing: { trust: 12 },
    },
  ],
  list: [
    {
      turnId: 'v7_mwzc2pwd_dSe8Hbq5aEztaGz1',
      npcId: 'mira',
      openedAt: '2026-11-27T18:47:23.293Z',
      kind: 'verdict',
      state: 'ended',
      deadlineAt: '2026-11-27T18:47:23.293Z',
      endedAt: '2026-11-27T18:47:23.293Z',
      ruleset: {
        rulesetId: 'tavern',
        version: 1,
      },
      valid: true,
    },
  ],
  open: [
    {
      turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
      npcId: 'mira',
      kind: 'process',
      state: 'awaitingInference',
      openedAt: '2026-11-27T18:47:22.916Z',
      deadlineAt: '2026-11-27T19:02:22.914Z',
      ruleset: null,
    },
  ],
  turn: {
    turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
    npcId: 'mira',
    kind: 'process',
    state: 'ended',
    openedAt: '2026-11-27T18:47:22.916Z',
    deadlineAt: '2026-11-27T19:02:22.914Z',
    endedAt: '2026-11-27T18:47:23.118Z',
    ruleset: {
      rulesetId: 'tavern',
      version: 1,
    },
    observation: 'A stranger asks for a room.',
    rounds: [
      {
        round: 3,
        result: {
          type: 'ExecuteInferenceResult',
          generatedOutput: '{"dialogue": "A room costs three coins.", "action": {"type": "SPEAK"}}',
        },
        instruction: {
          type: 'Finalize',
          valid: true,
          signature:
            'eyJhbGciOiJFZERTQSIsInR5cCI6InZlcmRpY3Qrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSJ9.eyJ…',
          memoryStore: [
            {
              text: 'A stranger asks for a room.',
              type: 'observation',
              importance: 0.5,
            },
          ],
          action: {
            type: 'SPEAK',
            target: '',
          },
          dialogue: 'A room costs three coins.',
          stateTransform: {},
        },
        revision: 4,
        at: '2026-11-27T18:47:23.118Z',
      },
    ],
    verdict: {
      valid: true,
      signature:
        'eyJhbGciOiJFZERTQSIsInR5cCI6InZlcmRpY3Qrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSJ9.eyJ…',
      memoryStore: [
        {
          text: 'A stranger asks for a room.',
          type: 'observation',
          importance: 0.5,
        },
      ],
      action: {
        type: 'SPEAK',
        target: '',
      },
      dialogue: 'A room costs three coins.',
      stateDelta: {},
      rules: [
        {
          drRuleId: 'no-fights',
          matched: true,
          conditions: [
            {
              key: 'location',
              expected: 'inn',
              holds: true,
            },
          ],
        },
      ],
      seen: [
        {
          key: 'location',
          value: 'inn',
        },
      ],
      checks: [
        {
          brRuleId: 'core.speak',
          passed: true,
        },
      ],
      generatedOutput: '{"dialogue": "A room costs three coins.", "action": {"type": "SPEAK"}}',
    },
  },
  why: {
    turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
    npcId: 'mira',
    kind: 'process',
    state: 'ended',
    openedAt: '2026-11-27T18:47:22.916Z',
    deadlineAt: '2026-11-27T19:02:22.914Z',
    endedAt: '2026-11-27T18:47:23.118Z',
    ruleset: {
      rulesetId: 'tavern',
      version: 1,
    },
    observation: 'A stranger asks for a room.',
    mind: {
      revision: 3,
      persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
      data: {
        hp: 40,
        location: 'inn',
        inventory: ['key'],
      },
    },
    rules: [
      {
        drRuleId: 'no-fights',
        ruleName: 'No fights',
        ruleAction: 'FORBID ATTACK',
        ruleReason: 'Nobody fights in the inn.',
        rulePriority: 10,
        matched: true,
        conditions: [
          {
            key: 'location',
            expected: 'inn',
            holds: true,
            saw: 'inn',
          },
        ],
      },
    ],
    memories: [
      {
        text: 'The last stranger paid in tin.',
        type: 'experience',
        importance: 0.8,
        similarity: 0.7,
      },
    ],
    prompt: {
      text: '<|im_start|>system\nWho you are: "Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest."\n\nYour state: {…',
      constraints: {
        maxTokens: 512,
        temperature: 0.7,
        stop: ['<|im_end|>', '<|im_start|>'],
      },
      digest: 'Nr2tv_zN6m2hxCxYZczgndy4q1-UfzqvcKrS8ACAfM4',
      madeAgain: true,
      parts: [
        {
          text: 'Who you are: "Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest."',
          from: 'persona',
        },
        {
          text: '"Nobody fights in the inn."',
          from: 'rule',
          ref: 'no-fights',
        },
        {
          text: '"A stranger asks for a room."',
          from: 'observation',
        },
      ],
    },
    model: {
      text: '{"dialogue": "A room costs three coins.", "action": {"type": "SPEAK"}}',
      read: {
        dialogue: 'A room costs three coins.',
        action: {
          type: 'SPEAK',
        },
        excess: null,
        memories: [],
        structured: true,
      },
    },
    mismatches: [],
    stateChange: null,
    memoriesStored: [
      {
        memoryId: 't0_mwzc2plu_ec8YARhP57I4Qu2t-0',
        text: 'A stranger asks for a room.',
        type: 'observation',
        importance: 0.5,
      },
    ],
    events: [
      {
        revision: 1,
        id: '01a21e55-6622-8a29-9b0a-e5e786713000',
        type: 'TurnOpened',
        at: '2026-11-27T18:47:22.916Z',
        hash: '3135a9ef29f8ed3ddafbfae234d39d935ebbd92ace7003a1ce7000952294f8a5',
      },
    ],
    checks: [
      {
        brRuleId: 'core.speak',
        passed: true,
      },
    ],
    verdict: {
      valid: true,
      signature:
        'eyJhbGciOiJFZERTQSIsInR5cCI6InZlcmRpY3Qrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSJ9.eyJ…',
      memoryStore: [
        {
          text: 'A stranger asks for a room.',
          type: 'observation',
          importance: 0.5,
        },
      ],
      action: {
        type: 'SPEAK',
        target: '',
      },
      dialogue: 'A room costs three coins.',
      stateDelta: {},
    },
  },
};
