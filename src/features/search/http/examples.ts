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
        to: null,
        text: 'The miller owes the inn nine coins. That is what I know.',
        snippet: 'The miller owes the inn nine coins. That is what I know.',
      },
    ],
    next: 'OTQ',
  },
};
