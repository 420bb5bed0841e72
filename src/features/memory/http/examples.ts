/** Requests about memories, and what a server answered, for the documentation. Long texts are cut. */

export const recallExamples = {
  recall: {
    query: 'Who owes us money?',
    limit: 1,
  },
  recalled: [
    {
      id: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
      memoryId: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
      text: 'The miller owes the inn nine coins.',
      content: 'The miller owes the inn nine coins.',
      type: 'knowledge',
      importance: 0.8,
      similarity: 0.25,
      embedding: [],
      timestamp: 1795805243616,
      createdAt: '2026-11-27T18:47:23.616Z',
      confirmed: false,
      cause: {
        turnId: null,
        eventId: '01a21e55-68e0-84a1-bdbf-b050473f6e50',
        revision: 12,
      },
      scoreParts: {
        words: 0.25,
      },
    },
  ],
  recallOfAgent: {
    query: 'The miller owes money.',
    limit: 1,
  },
  recalledOfAgent: [
    {
      id: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
      text: 'The miller owes the inn nine coins.',
      type: 'knowledge',
      timestamp: '2026-11-27T18:47:23.616Z',
      metadata: {
        source: 'ledger',
      },
      score: 0.7787454922993977,
    },
  ],
};

export const memoryExamples = {
  list: [
    {
      id: 't0_mwzc2plu_ec8YARhP57I4Qu2t-0',
      memoryId: 't0_mwzc2plu_ec8YARhP57I4Qu2t-0',
      text: 'A stranger asks for a room.',
      content: 'A stranger asks for a room.',
      type: 'observation',
      importance: 0.5,
      similarity: 1,
      embedding: [],
      timestamp: 1795805243118,
      createdAt: '2026-11-27T18:47:23.118Z',
      confirmed: true,
      cause: {
        turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
        eventId: '01a21e55-6622-8962-bbce-c70835b2d9b0',
        revision: 5,
      },
    },
  ],
  confirm: {
    observation: 'A stranger asks for a room.',
    turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
  },
  confirmed: {
    id: 't0_mwzc2plu_ec8YARhP57I4Qu2t-0',
    memoryId: 't0_mwzc2plu_ec8YARhP57I4Qu2t-0',
    text: 'A stranger asks for a room.',
    content: 'A stranger asks for a room.',
    type: 'observation',
    importance: 0.5,
    similarity: 1,
    embedding: [],
    timestamp: 1795805243118,
    createdAt: '2026-11-27T18:47:23.118Z',
    confirmed: true,
    cause: {
      turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
      eventId: '01a21e55-6622-8962-bbce-c70835b2d9b0',
      revision: 5,
    },
  },
  cleared: {
    clearStatus: 'cleared',
    clearCount: 4,
    clearTimestamp: '2026-11-27T18:47:35.322Z',
  },
  store: {
    text: 'The miller owes the inn nine coins.',
    type: 'knowledge',
    metadata: {
      source: 'ledger',
    },
  },
  stored: {
    id: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
    text: 'The miller owes the inn nine coins.',
    type: 'knowledge',
    timestamp: '2026-11-27T18:47:23.616Z',
    metadata: {
      source: 'ledger',
    },
  },
};

export const lineageExamples = {
  retractions: [
    {
      npcId: 'mira',
      revision: 19,
      at: '2026-11-27T18:53:10.402Z',
      by: '0YpwQ3uKPLZPiG9fP',
      reason: 'A player made it up.',
      memoryIds: ['mb_mwzc2q5c_oiZk_ZjxMhEOCiF1'],
    },
  ],
  lineage: {
    memory: {
      id: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
      memoryId: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
      text: 'The miller owes the inn nine coins.',
      content: 'The miller owes the inn nine coins.',
      type: 'knowledge',
      importance: 0.8,
      similarity: 1,
      embedding: [],
      timestamp: 1795805243616,
      createdAt: '2026-11-27T18:47:23.616Z',
      confirmed: false,
      cause: {
        turnId: null,
        eventId: '01a21e55-68e0-84a1-bdbf-b050473f6e50',
        revision: 12,
      },
    },
    retracted: null,
    cause: {
      turnId: null,
      eventId: '01a21e55-68e0-84a1-bdbf-b050473f6e50',
      revision: 12,
      at: '2026-11-27T18:47:23.616Z',
      type: 'MemoryStored',
      by: '0Vrs9UYdMEhbqy4XL',
    },
    recalledBy: [
      {
        turnId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH',
        revision: 14,
        at: '2026-11-27T18:47:28.760Z',
        similarity: 0.7196390628814697,
        match: 'id',
        verdict: {
          valid: true,
          dialogue: 'The miller owes the inn nine coins. That is what I know.',
          action: {
            type: 'SPEAK',
            target: '',
          },
        },
      },
    ],
    cut: false,
    derived: [
      {
        memoryId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH-0',
        text: 'Does the miller owe you money?',
        turnId: 'tc_mwzc2twg_rH51bQ03yd5SE9ZH',
        revision: 16,
        depth: 1,
        by: ['mb_mwzc2q5c_oiZk_ZjxMhEOCiF1'],
        retracted: false,
      },
    ],
  },
  retract: {
    memoryIds: ['mb_mwzc2q5c_oiZk_ZjxMhEOCiF1'],
    reason: 'The debt was paid.',
    derived: true,
    dryRun: true,
  },
  retracted: {
    npcId: 'mira',
    retracted: [
      {
        memoryId: 'mb_mwzc2q5c_oiZk_ZjxMhEOCiF1',
        text: 'The miller owes the inn nine coins.',
        derivedFrom: [],
      },
    ],
    dryRun: true,
  },
};
