/** Requests about NPCs and their histories, and what a server answered, for the documentation. Long texts are cut. */

export const historyExamples = {
  history: {
    npcId: 'mira',
    revision: 16,
    next: 1,
    events: [
      {
        revision: 0,
        id: '01a21e55-63d3-863f-a892-9fbae8d07b48',
        type: 'NpcRegistered',
        at: '2026-11-27T18:47:22.324Z',
        actor: '0Vrs9UYdMEhbqy4XL',
        commandId: 'cmwzc2p4r_Mpgw-xbe5XixM34o',
        causationId: null,
        correlationId: 'Xol6iVdtWlun-1',
        schemaVersion: 1,
        data: {
          persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
          data: {
            hp: 40,
            location: 'inn',
            inventory: ['key'],
          },
        },
        hash: '1089b90fece075bd61583901ca30fde2f5208e6acf8dc218fbdd925811e52099',
        prevHash: '0000000000000000000000000000000000000000000000000000000000000000',
      },
    ],
  },
  changes: {
    npcId: 'mira',
    from: { revision: 4, at: '2026-11-27T18:47:23.293Z' },
    to: { revision: 16, at: '2026-11-27T18:47:28.984Z' },
    changes: [
      { path: '/data/hp', before: 34, after: 40 },
      { path: '/facts/weather', after: 'storm' },
    ],
  },
  state: {
    npcId: 'mira',
    revision: 16,
    at: '2026-11-27T18:47:28.984Z',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    data: {
      hp: 40,
      location: 'inn',
      inventory: ['key'],
    },
    facts: {
      quest: 'the well',
      weather: 'storm',
    },
    openTurns: [],
    frozen: false,
  },
};

export const chainBreakExamples = {
  found: {
    npcId: 'mira',
    events: 17,
    breaks: [],
  },
  acknowledge: {
    from: 0,
    reason: 'A disk fault on 12 May.',
  },
};

const facts = { quest: 'the well', weather: 'storm' };
export const factsExamples = {
  report: { facts: { weather: 'storm', war: null } },
  reported: { npcId: 'mira', facts, revision: 18 },
  reportMany: { npcIds: ['mira', 'tomas'], facts: { weather: 'storm', war: null } },
  reportedMany: {
    results: [
      { npcId: 'mira', revision: 18 },
      {
        npcId: 'tomas',
        error: {
          code: 'FACTS_TOO_LARGE',
          message: 'The facts of an NPC, and one report of facts, are limited to 64 KiB of JSON. Report less.',
        },
      },
    ],
  },
};

export const npcExamples = {
  list: [
    {
      npcId: 'mira',
      persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
      data: {
        hp: 40,
        location: 'inn',
        inventory: ['key'],
      },
      revision: 0,
      updatedAt: '2026-11-27T18:47:22.324Z',
    },
  ],
  register: {
    npcId: 'mira',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    data: {
      hp: 40,
      location: 'inn',
      inventory: ['key'],
    },
  },
  registered: {
    npcId: 'mira',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    data: {
      hp: 40,
      location: 'inn',
      inventory: ['key'],
    },
    revision: 0,
    updatedAt: '2026-11-27T18:47:22.324Z',
    created: true,
  },
  npc: {
    npcId: 'mira',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    data: {
      hp: 40,
      location: 'inn',
      inventory: ['key'],
    },
    revision: 0,
    updatedAt: '2026-11-27T18:47:22.324Z',
  },
  patch: {
    data: {
      hp: 38,
      mood: null,
    },
  },
  patched: {
    npcId: 'mira',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    data: {
      hp: 38,
      location: 'inn',
      inventory: ['key'],
    },
    revision: 17,
    updatedAt: '2026-11-27T18:47:29.106Z',
  },
  archived: {
    npcId: 'tomas',
    archived: true,
    revision: 2,
  },
};
