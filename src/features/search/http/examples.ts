/** Requests about searches, and what a server answered, for the documentation. Long texts are cut. */

export const searchExamples = {
  found: {
    hits: [
      {
        npcId: 'mira',
        turnId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH',
        revision: 15,
        at: '2026-11-27T18:47:28.984Z',
        kind: 'said',
        by: 'mira',
        to: 'p1',
        text: 'The miller owes the inn nine coins. That is what I know.',
        snippet: 'The miller owes the inn nine coins. That is what I know.',
        player: 'p1',
        actor: '0YpwQ3uKPLZPiG9fP',
        action: 'SPEAK',
      },
    ],
    next: 'OTQ',
  },
  activity: {
    from: '2026-11-27T18:00:00.000Z',
    to: '2026-11-27T20:00:00.000Z',
    step: '1h',
    turns: 412,
    refusals: 9,
    buckets: [
      { at: '2026-11-27T18:00:00.000Z', turns: 180, refusals: 2 },
      { at: '2026-11-27T19:00:00.000Z', turns: 232, refusals: 7 },
    ],
    rules: [{ drRuleId: 'no-fights', refusals: 8, buckets: [1, 7] }],
    otherRefusals: 1,
  },
  npcActivity: {
    from: '2026-11-21T00:00:00.000Z',
    to: '2026-11-28T00:00:00.000Z',
    step: '7d',
    turns: 71,
    refusals: 0,
    buckets: [{ at: '2026-11-21T00:00:00.000Z', turns: 71, refusals: 0 }],
    rules: [],
    otherRefusals: 0,
  },
};
