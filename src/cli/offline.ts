import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ownerKeyFile } from '../adapters/files/owner-key-file.js';
import type { ApiKeyDeps } from '../features/keys/api-keys.js';
import { firstStart, type OwnerKey, recoverOwnerKey } from '../features/keys/first-start.js';
import { deriveKey } from '../kernel/crypto/derive-key.js';
import { createSeals } from '../kernel/crypto/seals.js';
import { StreamWriters } from '../kernel/streams/stream-writers.js';
import { openKeys } from '../features/keys/open-keys.js';
import { type Config, type DistributedConfig, parseConfig } from '../config/config.js';
import { createLogger, logOrigin } from '../config/logger.js';
import { type EmbeddedProfile, openEmbedded } from '../profiles/embedded.js';
import type { Profile } from '../profiles/profile.js';
import { noDataDirectory } from './shared/client.js';
import { CommandFailed, remark, type Terminal } from './shared/terminal.js';

/**
 * Opens the data directory for a command that works while the server is stopped. Never creates one.
 * @throws CommandFailed when there is none, StartProblem when it cannot be used, for example because a server has it open
 */
export const openOffline = async (
  terminal: Terminal,
  options: { readonly mendReads?: boolean } = {},
): Promise<{ readonly config: Config; readonly profile: EmbeddedProfile }> => {
  const config = parseConfig(terminal.env, terminal.cwd);
  if (config.distributed !== null) {
    throw new CommandFailed('This command works on a data directory, and the distributed profile has none.');
  }
  if (!existsSync(join(config.dataDir, 'format'))) {
    throw new CommandFailed(noDataDirectory(config.dataDir));
  }
  const log = createLogger('error', terminal.stderr, false, logOrigin(config));
  const profile = await openEmbedded(config, log, options);
  for (const warning of profile.warnings) remark(terminal, warning);
  return { config, profile };
};

/**
 * Opens the data directory while the server is stopped, or the stores of the distributed profile while its processes may run.
 * @throws CommandFailed, StartProblem
 */
export const openStored = async (terminal: Terminal): Promise<Profile> => {
  const config = parseConfig(terminal.env, terminal.cwd);
  return config.distributed === null
    ? (await openOffline(terminal)).profile
    : openBesideServers(terminal, config, config.distributed);
};

/**
 * Creates another owner key for a tenant: in the data directory while the server is stopped, or in the event store of the distributed profile. There
 * the servers may run, and accept the key within a second. Propagates errors from the event store. @throws CommandFailed, StartProblem
 */
export const recoverOwner = async (terminal: Terminal, tenantId: string): Promise<OwnerKey> => {
  const config = parseConfig(terminal.env, terminal.cwd);
  await using profile =
    config.distributed === null
      ? (await openOffline(terminal)).profile
      : await openBesideServers(terminal, config, config.distributed);
  return await withKeys(terminal, config, profile, (apiKeys) =>
    recoverOwnerKey(apiKeys, ownerKeyFile(config.dataDir), tenantId),
  );
};

/**
 * Creates the tenant `local` and its owner key in the event store of the distributed profile. It talks to the store, not to a running server. Null if
 * this was done before. Propagates errors from the event store. @throws StartProblem
 */
export const bootstrapDistributed = async (terminal: Terminal): Promise<OwnerKey | null> => {
  const config = parseConfig(terminal.env, terminal.cwd);
  if (config.distributed === null) {
    throw new CommandFailed(
      'This command is for the distributed profile. In the embedded profile the server creates the owner key at its first start ' +
        'and writes it to the file "owner-key" in its data directory: run "npx anima serve". If that key is lost, run "npx anima keys recover".',
    );
  }
  await using profile = await openBesideServers(terminal, config, config.distributed);
  return await withKeys(terminal, config, profile, (apiKeys) => firstStart(apiKeys, ownerKeyFile(config.dataDir)));
};

const openBesideServers = async (
  terminal: Terminal,
  config: Config,
  distributed: DistributedConfig,
): Promise<Profile> => {
  const { openDistributed } = await import('../profiles/distributed.js');
  return openDistributed(config, distributed, createLogger('error', terminal.stderr, false, logOrigin(config)));
};

/** Opens the keys, passes them to `use`, and closes them. */
const withKeys = async <T>(
  terminal: Terminal,
  config: Config,
  { ports, secret, shared }: Profile,
  use: (apiKeys: ApiKeyDeps) => Promise<T>,
): Promise<T> => {
  const seals = createSeals(deriveKey(secret, 'event-mac'));
  const { apiKeys } = await openKeys({
    ports,
    writers: new StreamWriters(ports.events, ports.clock, { shared, seals }),
    ...{ secret, seals },
    settings: { jwsAlg: config.jwsAlg, rateLimit: config.rateLimit, tiersActive: false },
    onCutOff: (error) => {
      remark(terminal, `Some key events cannot be read: ${String(error)}`);
    },
  });
  await using _directory = apiKeys.directory;
  return await use(apiKeys);
};
