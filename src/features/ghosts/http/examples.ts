/** Requests about ghost sessions, and what a server answered, for the documentation. Long texts are cut. */

export const sessionExamples = {
  history: {
    sessions: [
      {
        histSessionId: 'g0_mwzc2uys_ndvczMhMUht_tyb2',
        histTestSuite: 'smoke',
        histStartedAt: '2026-11-27T18:47:29.880Z',
        histCompletedAt: '2026-11-27T18:47:33.495Z',
        histStatus: 'completed',
        histPassRate: 1,
        histGoal: 'find_bugs',
        histLevel: {
          levelId: 'market',
          version: null,
          digest: '5Uum-YBxC4zkz2IyHy0js3SFH9r4uuTHQRtqhI6_a3k',
          generated: false,
        },
        histSeed: 7,
      },
    ],
  },
  status: {
    ghostSessionId: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
    ghostStatus: 'completed',
    ghostProgress: 1,
    ghostStartedAt: '2026-11-27T18:47:29.835Z',
    ghostDuration: 3.659,
    ghostErrors: [],
    ghostGoal: 'find_bugs',
    ghostLevel: {
      levelId: 'market',
      version: null,
      digest: '5Uum-YBxC4zkz2IyHy0js3SFH9r4uuTHQRtqhI6_a3k',
      generated: false,
    },
    ghostSeed: 7,
    ghostStep: 120,
    ghostSteps: 120,
    ghostTimedOut: false,
    ghostDriver: 'local',
    ghostCompletedAt: '2026-11-27T18:47:33.494Z',
    ghostEngine: 'scripted',
    ghostWaiting: null,
  },
  stopped: {
    stopStatus: 'stopped',
    stopSessionId: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
  },
};

export const runExamples = {
  run: {
    goal: 'find_bugs',
    level: 'market',
    seed: 7,
    steps: 120,
  },
  started: {
    id: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
    startedAt: '2026-11-27T18:47:29.835Z',
    seed: 7,
    status: 'pending',
    progress: 0,
  },
  suite: {
    testSuite: 'smoke',
    level: 'market',
    seed: 7,
    steps: 120,
  },
  suiteStarted: {
    sessionId: 'g0_mwzc2uys_ndvczMhMUht_tyb2',
    runStatus: 'pending',
    seed: 7,
  },
};

export const findingExamples = {
  results: {
    resultsSessionId: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
    resultsTotalTests: 12,
    resultsPassed: 9,
    resultsFailed: 0,
    resultsSkipped: 3,
    resultsDuration: 3659,
    resultsTests: [
      {
        testName: 'unreachable_goal',
        testPassed: true,
        testError: null,
        testDuration: 3659,
        testScreenshot: null,
      },
    ],
    resultsCoverage: 0.09411764705882353,
    resultsMetrics: [['steps'], ['tiles.reachable'], ['tiles.entered']],
    resultsFindings: [
      {
        n: 1,
        kind: 'mind_allowed_world_refused',
        subject: 'INTERACT/TOO_FAR',
        detail: 'The mind allowed INTERACT, but the world refused it: The npc clerk is too far away.',
        fromStep: 2,
        toStep: 116,
        count: 6,
        events: [1, 17, 55, 63, 99, 115],
      },
    ],
    resultsGoal: 'find_bugs',
    resultsLevel: {
      levelId: 'market',
      version: null,
      digest: '5Uum-YBxC4zkz2IyHy0js3SFH9r4uuTHQRtqhI6_a3k',
      generated: false,
    },
    resultsSeed: 7,
    resultsEngine: 'scripted',
    resultsTimedOut: false,
    resultsStatus: 'completed',
    resultsErrors: [],
  },
  steps: {
    sessionId: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
    next: 2,
    steps: [
      {
        step: 1,
        turns: [
          {
            npcId: 'ghost',
            events: [
              {
                type: 'VerdictReached',
                version: 1,
                data: {
                  turnId: 'g1',
                },
              },
            ],
          },
        ],
        action: {
          type: 'MOVE',
          payload: {
            x: 2,
            y: 1,
          },
          target: '',
        },
        outcome: {
          ok: true,
          happened: ['You move to (2, 1).'],
        },
        ms: 7.6,
        revision: 0,
        at: '2026-11-27T18:47:29.892Z',
      },
    ],
  },
  reproduction: {
    format: 'anima-ghost-repro/1',
    sessionId: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
    finding: {
      kind: 'mind_allowed_world_refused',
      subject: 'INTERACT/TOO_FAR',
      detail: 'The mind allowed INTERACT, but the world refused it: The npc clerk is too far away.',
    },
    level: {
      levelId: 'market',
      version: null,
      digest: '5Uum-YBxC4zkz2IyHy0js3SFH9r4uuTHQRtqhI6_a3k',
      generated: false,
    },
    map: null,
    goal: 'find_bugs',
    seed: 7,
    script: [
      {
        text: '{"dialogue":"","action":{"type":"INTERACT","target":"clerk"}}',
      },
    ],
    steps: 1,
    minimal: true,
  },
  replay: {
    format: 'anima-ghost-repro/1',
    finding: {
      kind: 'mind_allowed_world_refused',
      subject: 'INTERACT/TOO_FAR',
      detail: 'The mind allowed INTERACT, but the world refused it: The npc clerk is too far away.',
    },
    level: {
      levelId: 'market',
      version: null,
      digest: '5Uum-YBxC4zkz2IyHy0js3SFH9r4uuTHQRtqhI6_a3k',
      generated: false,
    },
    map: null,
    goal: 'find_bugs',
    seed: 7,
    script: [
      {
        text: '{"dialogue":"","action":{"type":"INTERACT","target":"clerk"}}',
      },
    ],
  },
  replayed: {
    reproduced: true,
    findings: [
      {
        n: 1,
        kind: 'mind_allowed_world_refused',
        subject: 'INTERACT/TOO_FAR',
        detail: 'The mind allowed INTERACT, but the world refused it: The npc clerk is too far away.',
        fromStep: 1,
        toStep: 1,
        count: 1,
        events: [0],
      },
    ],
    steps: 1,
  },
  comparison: {
    sessionId: 'g0_mwzc2uxn_gTSD53_I8kP7plxy',
    otherId: 'g0_mwzc2uys_ndvczMhMUht_tyb2',
    comparable: true,
    added: [],
    gone: [],
    kept: [
      {
        n: 1,
        kind: 'mind_allowed_world_refused',
        subject: 'INTERACT/TOO_FAR',
        detail: 'The mind allowed INTERACT, but the world refused it: The npc clerk is too far away.',
        fromStep: 2,
        toStep: 116,
        count: 6,
        events: [1, 17, 55, 63, 99, 115],
      },
    ],
    metrics: [['steps'], ['tiles.reachable'], ['tiles.entered']],
  },
};
