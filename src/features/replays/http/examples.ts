/** Requests about replays, and what a server answered, for the documentation. Long texts are cut. */

export const coverageExamples = {
  coverage: {
    rulesetId: 'tavern',
    version: 1,
    decisions: 4,
    rules: [
      {
        drRuleId: 'no-fights',
        ruleName: 'No fights',
        fired: 4,
        decided: 0,
        shadowed: 0,
        errors: 0,
        samples: [
          {
            npcId: 'mira',
            turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
            revision: 4,
          },
        ],
        use: 'fired',
      },
    ],
  },
};

export const replayExamples = {
  replayNpc: {
    rulesetId: 'tavern',
  },
  replayNpcs: {
    npcIds: ['mira'],
    rulesetId: 'tavern',
  },
  accepted: {
    replayId: 'r0_mwzc2ybp_34hhqKeuV27YUFv4',
    status: 'running',
    trial: true,
    startedAt: '2026-11-27T18:47:34.217Z',
    progress: 0,
    minds: 0,
    unknown: [],
    decisions: 0,
    turns: {
      checked: 0,
      equal: 0,
      different: 0,
      skipped: 0,
    },
    skipped: {
      logic: 0,
      rules: 0,
      turn: 0,
    },
    differences: {
      newlyRefused: 0,
      newlyAllowed: 0,
      otherAction: 0,
      otherState: 0,
      otherReason: 0,
      otherRecall: 0,
      otherPrompt: 0,
      otherTrace: 0,
    },
    rules: [],
    samples: [],
    byLogic: {
      decisions: 0,
      samples: [],
    },
  },
  replay: {
    replayId: 'r0_mwzc2ybp_34hhqKeuV27YUFv4',
    status: 'completed',
    trial: true,
    startedAt: '2026-11-27T18:47:34.217Z',
    endedAt: '2026-11-27T18:47:34.831Z',
    progress: 1,
    minds: 1,
    unknown: [],
    decisions: 11,
    turns: {
      checked: 6,
      equal: 4,
      different: 2,
      skipped: 0,
    },
    skipped: {
      logic: 0,
      rules: 0,
      turn: 0,
    },
    differences: {
      newlyRefused: 1,
      newlyAllowed: 0,
      otherAction: 0,
      otherState: 0,
      otherReason: 0,
      otherRecall: 1,
      otherPrompt: 1,
      otherTrace: 0,
    },
    rules: [
      {
        rulesetId: 'tavern',
        drRuleId: 'no-fights',
        matched: {
          was: 4,
          would: 5,
        },
        decided: 0,
        shadowed: 0,
        errors: 0,
        samples: {
          fired: [
            {
              npcId: 'mira',
              turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
              revision: 4,
            },
          ],
          decided: [],
          shadowed: [],
        },
      },
    ],
    samples: [
      {
        npcId: 'mira',
        turnId: null,
        revision: 10,
        kind: 'newlyRefused',
        was: {
          valid: true,
          reason: null,
          correctedAction: null,
          code: null,
          details: {},
        },
        would: {
          valid: false,
          reason: 'The place (12, 3) lies outside the world.',
          correctedAction: null,
          code: 'OUT_OF_BOUNDS',
          details: {
            x: 12,
            y: 3,
            bounds: {
              minX: 0,
              maxX: 10,
              minY: 0,
              maxY: 10,
            },
          },
        },
      },
    ],
    byLogic: {
      decisions: 0,
      samples: [],
    },
    firstDifference: {
      npcId: 'mira',
      turnId: null,
      revision: 10,
      kind: 'newlyRefused',
    },
  },
};
