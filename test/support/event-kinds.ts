import { logEvents } from '../../src/features/proofs/domain/decoder.js';
import { ghostEvents, ghostStepEvents } from '../../src/features/ghosts/domain/decoder.js';
import { levelEvents } from '../../src/features/levels/domain/decoder.js';
import { npcEvents } from '../../src/features/npcs/domain/decoder.js';
import { replayEvents } from '../../src/features/replays/domain/decoder.js';
import { rulesetEvents } from '../../src/features/rules/domain/decoder.js';
import { signingKeyEvents } from '../../src/features/keys/domain/signing-decoder.js';
import { custodyEvents } from '../../src/features/souls/domain/custody.js';
import { importEvents } from '../../src/features/souls/domain/import-decoder.js';
import { tenantEvents, tenantsEvents } from '../../src/features/keys/domain/decoder.js';

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
