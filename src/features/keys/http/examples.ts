/** Requests about keys and tenants, and what a server answered, for the documentation. Long texts are cut. */

export const keyExamples = {
  issue: {
    name: 'Game server',
    scopes: ['npc', 'memory'],
    rateLimit: {
      limit: 600,
      windowSeconds: 60,
    },
  },
  issued: {
    keyId: '0YpwQ3uKPLZPiG9fP',
    name: 'Game server',
    scopes: ['npc', 'memory'],
    rateLimit: {
      limit: 600,
      windowSeconds: 60,
    },
    createdAt: '2026-11-27T18:47:35.245Z',
    expiresAt: null,
    test: false,
    owner: false,
    key: 'am_live_0YpwQ3uKPLZPiG9fP_2bjWaajVCWduTF2tkHXqYYmmT0cX4Cixw2dhrVl',
  },
  list: [
    {
      keyId: '0Vrs9UYdMEhbqy4XL',
      name: 'owner',
      scopes: ['npc', 'memory', 'rules'],
      rateLimit: null,
      createdAt: '2026-11-27T18:47:21.833Z',
      expiresAt: null,
      test: false,
      owner: true,
      lastUsedAt: '2026-11-27T18:47:35.258Z',
    },
  ],
  tenant: {
    tenantId: 'lantern-studio',
    tier: 'pro',
  },
  created: {
    tenantId: 'lantern-studio',
    tier: 'pro',
    keyId: '16qMXEGM7T7pl9raI',
    key: 'am_live_16qMXEGM7T7pl9raI_1xpC87tGc1xLPpDOotPDKkjUHOCU0jt6e3eFYq8',
  },
};
