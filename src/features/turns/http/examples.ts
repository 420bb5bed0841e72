/** Requests about turns, and what a server answered, for the documentation. Long texts are cut. */

export const bridgeExamples = {
  question: {
    action: {
      type: 'MOVE',
      target: 'the cellar',
      payload: {
        x: 12,
        y: 3,
      },
    },
    context: {
      worldState: {
        bounds: {
          minX: 0,
          maxX: 10,
          minY: 0,
          maxY: 10,
        },
      },
    },
  },
  checked: {
    valid: true,
    reason: null,
    correctedAction: null,
    code: null,
    details: {},
  },
  rules: [
    {
      brRuleId: 'core.movement',
      ruleDescription: 'A move needs a target or numeric x and y, inside the bounds of the world if they are known.',
      affectedActions: ['MOVE'],
    },
  ],
};

export const actExamples = {
  directive: {
    observation: 'A stranger asks for a room.',
    rulesetId: 'tavern',
  },
  directed: {
    memoryRecall: {
      query: 'A stranger asks for a room.\nNo fights Nobody fights in the inn.',
      limit: 6,
      threshold: 0.5,
    },
    turnId: 'd5_mwzc2ptn_Q2G9U2TwGqKx-QAC',
  },
  context: {
    observation: 'A stranger asks for a room.',
    rulesetId: 'tavern',
    memories: [
      {
        text: 'The last stranger paid in tin.',
      },
    ],
  },
  built: {
    prompt:
      '<|im_start|>system\nWho you are: "Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest."\n\nYour state: {…',
    constraints: {
      maxTokens: 512,
      temperature: 0.7,
      stop: ['<|im_end|>', '<|im_start|>'],
    },
    ctxMessages: [
      {
        role: 'system',
        content:
          'Who you are: "Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest."\n\nYour state: {"hp":40,"location":…',
      },
    ],
    turnId: 'c6_mwzc2pv8_ZnDNFyAgKlbtukSy',
  },
  verdict: {
    observation: 'A stranger asks for a room.',
    rulesetId: 'tavern',
    generatedOutput: '{"dialogue": "A room costs three coins.", "action": {"type": "SPEAK"}}',
  },
  judged: {
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
    turnId: 'v7_mwzc2pwd_dSe8Hbq5aEztaGz1',
  },
};

export const verificationExamples = {
  verify: {
    npcId: 'mira',
    signature:
      'eyJhbGciOiJFZERTQSIsInR5cCI6InZlcmRpY3Qrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSJ9.eyJ…',
    verdict: {
      valid: true,
      dialogue: 'A room costs three coins.',
      action: {
        type: 'SPEAK',
        target: '',
      },
      memoryStore: [
        {
          text: 'A stranger asks for a room.',
          type: 'observation',
          importance: 0.5,
        },
      ],
      stateDelta: {},
    },
  },
  verified: {
    valid: true,
    turnId: 'v7_mwzc2pwd_dSe8Hbq5aEztaGz1',
    revision: 8,
    signedAt: '2026-11-27T18:47:23.000Z',
  },
  jwks: {
    keys: [
      {
        crv: 'Ed25519',
        kty: 'OKP',
        x: 'p-XG-tAGrgWZQtV9R_uwtETj66ri2jwt0mMBW6GNrc0',
        kid: 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI',
        use: 'sig',
      },
    ],
  },
};
