import { logEvents } from './audit/log-decoder.js';
import { ghostEvents, ghostStepEvents } from './ghost/session-decoder.js';
import { levelEvents } from './level/decoder.js';
import { npcEvents } from './npc/decoder.js';
import { replayEvents } from './replay/decoder.js';
import { rulesetEvents } from './rules/decoder.js';
import { signingKeyEvents } from './signing/decoder.js';
import { custodyEvents } from './soul/custody.js';
import { importEvents } from './soul/import-decoder.js';
import { tenantEvents, tenantsEvents } from './tenant/decoder.js';

/** Every kind of stream, with its decoder. A new kind of stream is named here. */
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

/** The version in which events of a type are recorded; 1 for a type that no kind has. */
export const schemaVersionOf = (type: string): number => {
  for (const kind of Object.values(eventKinds)) {
    const version = kind.versionOf(type);
    if (version !== null) return version;
  }
  return 1;
};
