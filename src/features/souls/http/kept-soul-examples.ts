import { exportedSoul } from './examples.js';

/** Requests about souls, and what a server answered, for the documentation. Long texts are cut. */
export const keptSoulExamples = {
  list: {
    souls: [
      {
        txId: '4cNcSyi1i31trqLka4peDm2pwCZ5chSuI0nr0nuGUkQ',
        name: 'mira',
        npcId: 'mira',
        exportedAt: '2026-11-27T18:47:29.509Z',
        arweaveUrl: 'https://anima.example/archive/4cNcSyi1i31trqLka4peDm2pwCZ5chSuI0nr0nuGUkQ',
      },
    ],
  },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:anima:soul:1',
    title: 'A soul, version 1',
    type: 'object',
  },
  found: {
    si1Instruction: {
      adiGatewayUrl: 'https://anima.example/archive',
      adiExpectedTxId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    },
    soul: exportedSoul,
  },
  verified: {
    valid: true,
    signer: 'ours',
    kid: 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI',
    soulId: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
  },
  proof: {
    txId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    soulId: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
    memory: {
      cause: {
        eventId: '01a21e55-6622-8962-bbce-c70835b2d9b0',
        revision: 5,
        turnId: 't0_mwzc2plu_ec8YARhP57I4Qu2t',
      },
      confirmed: true,
      id: 't0_mwzc2plu_ec8YARhP57I4Qu2t-0',
      importance: 0.5,
      metadata: {},
      text: 'A stranger asks for a room.',
      timestamp: '2026-11-27T18:47:23.118Z',
      type: 'observation',
    },
    part: 1,
    parts: 5,
    path: [
      'W2OUSMcJF2D4MBKJsosYTk9-KV81b4SeI9-SCM4GgsY',
      'y7Wca4K3jxvCIeBNYwMULueddq4OQrjm672N9VM9Obo',
      'u8j7IfGJsYK0WaWliidioeKLQVpNBB9menjARBAJgL0',
    ],
    root: 'apB3Z3sWt4oj2gHHbsHFYSnz-6gcMRmaIQiVuEx0XKA',
    signature:
      'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
  },
  disclosure: {
    txId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    soulId: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
    npcId: 'mira',
    bytes: 2453,
    without: [],
    turns: 'read',
    persona: {
      bytes: 71,
      players: [],
    },
    players: [],
    memories: {
      count: 4,
      bytes: 1187,
      about: 0,
      items: [],
    },
    state: {
      bytes: 191,
      items: [],
    },
    facts: {
      bytes: 2,
      items: [],
    },
  },
};
