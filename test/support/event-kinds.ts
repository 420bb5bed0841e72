import { logEvents } from '../../src/features/proofs/domain/events.js';
import { ghostEvents, ghostStepEvents } from '../../src/features/ghosts/domain/events.js';
import { levelEvents } from '../../src/features/levels/domain/events.js';
import { npcEvents } from '../../src/features/npcs/domain/events.js';
import { replayEvents } from '../../src/features/replays/domain/events.js';
import { rulesetEvents } from '../../src/features/rules/domain/events.js';
import { accessEvents } from '../../src/features/keys/domain/access-events.js';
import { signingKeyEvents } from '../../src/features/keys/domain/signing-events.js';
import { custodyEvents } from '../../src/features/souls/domain/custody.js';
import { importEvents } from '../../src/features/souls/domain/import-events.js';
import { tenantEvents, tenantsEvents } from '../../src/features/keys/domain/events.js';

/** Every kind of stream, with its decoder: tests cover each type of each of them. */
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
  access: accessEvents,
} as const;
