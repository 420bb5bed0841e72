import { logEvents } from '../../src/domain/audit/log-decoder.js';
import { ghostEvents, ghostStepEvents } from '../../src/domain/ghost/session-decoder.js';
import { levelEvents } from '../../src/domain/level/decoder.js';
import { npcEvents } from '../../src/domain/npc/decoder.js';
import { replayEvents } from '../../src/domain/replay/decoder.js';
import { rulesetEvents } from '../../src/domain/rules/decoder.js';
import { signingKeyEvents } from '../../src/domain/signing/decoder.js';
import { custodyEvents } from '../../src/domain/soul/custody.js';
import { importEvents } from '../../src/domain/soul/import-decoder.js';
import { tenantEvents, tenantsEvents } from '../../src/domain/tenant/decoder.js';

/** Every kind of stream, with its decoder: tests look at each type of each of them. */
export const eventKinds = {
  npc: npcEvents,
  ruleset: rulesetEvents,
  level: levelEvents,
  tenant: tenantEvents,
  tenants: tenantsEvents,
  signingKeys: signingKeyEvents,
  imports: importEvents,
  custody: custodyEvents,
  ghosts: ghostEvents,
  ghostSteps: ghostStepEvents,
  replays: replayEvents,
  log: logEvents,
} as const;
