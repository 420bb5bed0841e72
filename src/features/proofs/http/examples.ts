/** Requests about proofs, and what a server answered, for the documentation. Long texts are cut. */

export const proofExamples = {
  list: [
    {
      size: 3,
      root: '0eaf25561799ca977f78a3fc62a08eaa823f942bb5dbaf016331c8b0dd83c7ab',
      at: '2026-11-27T18:47:35.182Z',
      kid: 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI',
      note: '127.0.0.1:45045/audit/local\n3\nDq8lVheZypd/eKP8YqCOqoI/lCu1268BYzHIsN2Dx6s=\ntime 2026-11-27T18:47:35.182Z\n\n— 127.0.0.1:45…',
      leaves: 3,
    },
  ],
  checkpoint: {
    size: 3,
    root: '0eaf25561799ca977f78a3fc62a08eaa823f942bb5dbaf016331c8b0dd83c7ab',
    at: '2026-11-27T18:47:35.182Z',
    kid: 'wsX2UJseH30SCxnrl9Me_v-BIC5-Uy3AfqbUh8Q72HI',
    note: '127.0.0.1:45045/audit/local\n3\nDq8lVheZypd/eKP8YqCOqoI/lCu1268BYzHIsN2Dx6s=\ntime 2026-11-27T18:47:35.182Z\n\n— 127.0.0.1:45…',
    leaves: 3,
  },
  restart: { reason: 'The disk was lost; the backup of 12 May was restored.' },
  restarted: { origin: '127.0.0.1:45045/audit/local/2', size: 4 },
  consistency: {
    from: 1,
    size: 3,
    path: [
      '5db6ddc661a6c030e58d313d9a7a762945870f8fe27a278930bb3e5775fa5393',
      '11b23fc45aabea8b2bde31fbd29c20c380335699fd0e2edc3981de36a3eb3f34',
    ],
  },
  inclusion: {
    size: 3,
    leaf: {
      stream: 'npc-local.mira',
      revision: 22,
      hash: '4ba7c4dad57e7f33a3e746ff3afa7c94eede686b9a9178a6d27bf2bbbe31f375',
      at: '2026-11-27T18:47:29.509Z',
    },
    index: 1,
    path: [
      '3b06fe4af60ca1ef8f87406004b181efe83d59808cae35dc7b431cf64eb7ec9a',
      '11b23fc45aabea8b2bde31fbd29c20c380335699fd0e2edc3981de36a3eb3f34',
    ],
    note: '127.0.0.1:45045/audit/local\n3\nDq8lVheZypd/eKP8YqCOqoI/lCu1268BYzHIsN2Dx6s=\ntime 2026-11-27T18:47:35.182Z\n\n— 127.0.0.1:45…',
  },
  audit: {
    npcIds: ['mira'],
  },
  audited: {
    valid: true,
    streams: 1,
    events: 24,
    broken: [],
    log: {
      origin: '127.0.0.1:45045/audit/local',
      size: 3,
      root: '0eaf25561799ca977f78a3fc62a08eaa823f942bb5dbaf016331c8b0dd83c7ab',
      at: '2026-11-27T18:47:35.182Z',
      handedOn: null,
    },
  },
};
