/** Requests about souls, and what a server answered, for the documentation. Long texts are cut. */

/** The soul that the examples of its export and of reading it show. */
export const exportedSoul = {
  id: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
  version: '1',
  name: 'mira',
  persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
  signature:
    'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
  state: {
    confidence: 0,
    extra: {
      hp: 40,
      location: 'inn',
    },
    fear: 0,
    filled: ['confidence', 'fear', 'mood'],
    inventory: ['key'],
    mood: 'neutral',
    relationships: {},
    skills: {},
  },
  memories: [
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
};

export const soulExamples = {
  exportAgent: {
    format: 'json',
    storage: 'local',
    includeMemories: false,
  },
  exportedAgent: {
    format: 'json',
    storage: 'local',
    soul: {
      id: 'sj_mwzc2unl_4h9aC_ixNQ53j6mJ',
      version: '1',
      createdAt: '2026-11-27T18:47:29.457Z',
      name: 'mira',
      npcId: 'mira',
      persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
      signature:
        'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
    },
  },
  export: {
    includeMemories: true,
  },
  exported: {
    se1Instruction: {
      auiEndpoint: 'https://anima.example/archive',
      auiContentType: 'application/json',
      auiAuthHeader:
        'Bearer eyJhbGciOiJFZERTQSIsInR5cCI6ImFyY2hpdmUtZ3JhbnQrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVa…',
      auiPayload: {
        id: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
        version: '1',
        createdAt: '2026-11-27T18:47:29.269Z',
        name: 'mira',
        npcId: 'mira',
        persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
        signature:
          'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
      },
    },
    se1SignedPayload: {
      id: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
      version: '1',
      createdAt: '2026-11-27T18:47:29.269Z',
      name: 'mira',
      npcId: 'mira',
      persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
      signature:
        'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
    },
    se1Signature:
      'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
  },
  confirm: {
    secUploadResult: {
      aurTxId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
      aurStatus: 201,
      aurSuccess: true,
    },
    secSignedPayload: {
      id: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
      version: '1',
      createdAt: '2026-11-27T18:47:29.269Z',
      name: 'mira',
      npcId: 'mira',
      persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
      signature:
        'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
    },
    secSignature:
      'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
  },
  confirmed: {
    txId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    arweaveUrl: 'https://anima.example/archive/ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    signature:
      'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
    soul: exportedSoul,
  },
};

export const archiveExamples = {
  archived: {
    id: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
  },
  payload: {
    id: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
    version: '1',
    createdAt: '2026-11-27T18:47:29.269Z',
    name: 'mira',
    npcId: 'mira',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    signature:
      'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
  },
};
