import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ownerKeyFile } from '../adapters/files/owner-key-file.js';
import { type OwnerKey, recoverOwnerKey } from '../app/first-start.js';
import { Lanes } from '../app/lanes.js';
import { openKeys } from '../app/open-keys.js';
import { type Config, parseConfig } from '../config/config.js';
import { type EmbeddedProfile, openEmbedded } from '../profiles/embedded.js';
import { CommandFailed, remark, type Terminal } from './terminal.js';

/**
 * Opens the data directory for a command that works while the server is stopped. It makes none: without one there is nothing to work on.
 * @throws CommandFailed when there is none, StartProblem when it cannot be used, for example because a server has it open
 */
export const openOffline = async (
  terminal: Terminal,
): Promise<{ readonly config: Config; readonly profile: EmbeddedProfile }> => {
  const config = parseConfig(terminal.env, terminal.cwd);
  if (!existsSync(join(config.dataDir, 'format'))) {
    throw new CommandFailed(`There is no data directory at ${config.dataDir}; ANIMA_DATA_DIR names another.`);
  }
  const profile = await openEmbedded(config);
  for (const warning of profile.warnings) remark(terminal, warning);
  return { config, profile };
};

/** Makes another owner key for a tenant while the server is stopped (contract 11.3). @throws CommandFailed, StartProblem */
export const recoverOffline = async (terminal: Terminal, tenantId: string): Promise<OwnerKey> => {
  const { config, profile } = await openOffline(terminal);
  await using opened = profile;
  const { ports, secret } = opened;
  const { apiKeys } = await openKeys({
    ports,
    lanes: new Lanes(ports.events, ports.clock),
    secret,
    settings: { jwsAlg: config.jwsAlg, rateLimit: config.rateLimit, tiersActive: false },
    onFeedLost: (error) => {
      remark(terminal, `The feed of the event store was lost: ${String(error)}`);
    },
  });
  await using _directory = apiKeys.directory;
  return await recoverOwnerKey(apiKeys, ownerKeyFile(config.dataDir), tenantId);
};
