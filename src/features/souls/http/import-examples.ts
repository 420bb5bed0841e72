/** Requests about souls, and what a server answered, for the documentation. Long texts are cut. */

export const importExamples = {
  import: {
    txIdRef: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
  },
  begun: {
    si1Instruction: {
      adiGatewayUrl: 'https://anima.example/archive',
      adiExpectedTxId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    },
  },
  confirm: {
    sicTxId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
    sicDownloadResult: {
      adrBody: {
        id: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
        version: '1',
        createdAt: '2026-11-27T18:47:29.269Z',
        name: 'mira',
        npcId: 'mira',
        persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
        signature:
          'eyJhbGciOiJFZERTQSIsInR5cCI6InNvdWwrand0Iiwia2lkIjoid3NYMlVKc2VIMzBTQ3hucmw5TWVfdi1CSUM1LVV5M0FmcWJVaDhRNzJISSIsImp3ayI6…',
      },
      adrStatus: 200,
      adrSuccess: true,
    },
    copy: true,
  },
  imported: {
    npcId: 'mira-copy-4024406c',
    persona: 'Mira keeps the Lantern Inn. She is dry, fair and never forgets a guest.',
    data: {
      hp: 40,
      location: 'inn',
      inventory: ['key'],
    },
    soulId: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
    copy: true,
    kid: 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI',
    signer: 'ours',
  },
  custody: {
    npcId: 'mira-copy-4024406c',
    copy: true,
    chain: [
      {
        soulId: 'sg_mwzc2uic_Gj3li_zWCEpnhmpQ',
        txId: 'ghw7IY9_f-BCQf0K8ExYhT2lAz6tOAiEO-PrrEigswo',
        issuer: 'https://anima.example',
        tenant: 'local',
        npcId: 'mira',
        kid: 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI',
        root: 'apB3Z3sWt4oj2gHHbsHFYSnz-6gcMRmaIQiVuEx0XKA',
        importedAt: '2026-11-27T18:47:29.596Z',
        verified: true,
      },
    ],
  },
};
