import { Command, InvalidArgumentError } from 'commander';

import type { OwnerKey } from '../first-start.js';
import type { KeyAnswer } from '../http/routes.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, table, type Terminal } from '../../../cli/shared/terminal.js';

type JsonReply = { readonly json?: true };
type Limit = 'off' | { readonly limit: number; readonly windowSeconds: number };
type Wish = { scopes?: string[]; rateLimit?: Limit; expiresAt?: string; test?: true };
type ShownKey = (typeof KeyAnswer)['static'] & { readonly lastUsedAt?: string | null };

/** Creates owner keys without a server. */
type OwnerKeys = {
  /** Null when the tenant already has one. */
  readonly bootstrapDistributed: (terminal: Terminal) => Promise<OwnerKey | null>;
  readonly recoverOwner: (terminal: Terminal, tenantId: string) => Promise<OwnerKey>;
};

const rateLimit = (text: string): Limit => {
  const match = /^(\d{1,7})\/(\d{1,5})$/.exec(text);
  if (text === 'off') return text;
  if (match === null) throw new InvalidArgumentError('It must be requests/seconds, for example 100/60, or "off".');
  return { limit: Number(match[1]), windowSeconds: Number(match[2]) };
};

const list = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

const limitText = (limit: Limit | null): string =>
  limit === null ? 'default' : limit === 'off' ? 'off' : `${String(limit.limit)}/${String(limit.windowSeconds)}`;

const asTable = (keys: readonly ShownKey[]): string[] =>
  table([
    ['KEY ID', 'NAME', 'LIMIT', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPES'],
    ...keys.map((key) => [
      key.keyId,
      key.name,
      limitText(key.rateLimit),
      key.createdAt,
      key.lastUsedAt ?? 'never',
      key.expiresAt ?? 'never',
      key.scopes.join(','),
    ]),
  ]);

const issue = (terminal: Terminal): Command =>
  new Command('issue')
    .description('issue a key (it is shown only once)')
    .argument('<name>', 'name of the key, for example the game that uses it')
    .option(
      '--scopes <list>',
      'scopes separated by commas: npc, memory, facts, rules, souls, ghosts, audit, ops, admin (default: all except ops and admin)',
      list,
    )
    .option(
      '--rate-limit <limit>',
      'requests/seconds, for example 600/60, or "off" (default: ANIMA_RATE_LIMIT of the server)',
      rateLimit,
    )
    .option('--expires-at <time>', 'when the key expires, for example 2027-01-01T00:00:00Z (default: never)')
    .option('--test', 'issue a test key, which starts with am_test_')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('keys issue my-game --scopes npc,memory', 'keys issue ci --scopes ghosts --rate-limit off'),
    )
    .action(async (name: string, { json, ...wish }: JsonReply & Wish) => {
      const request = await openClient(terminal);
      const made = (await request('POST', '/keys', { name, ...wish })) as ShownKey;
      if (json) {
        printJson(terminal, made);
        return;
      }
      print(terminal, made.key ?? '');
      remark(terminal, `Issued key ${made.keyId} (${made.scopes.join(', ')}). Store it now: it is not shown again.`);
    });

const listKeys = (terminal: Terminal): Command =>
  new Command('list')
    .description("list the tenant's keys")
    .addOption(jsonOption())
    .action(async ({ json }: JsonReply) => {
      const request = await openClient(terminal);
      const keys = (await request('GET', '/keys')) as readonly ShownKey[];
      if (json) printJson(terminal, keys);
      else for (const line of asTable(keys)) print(terminal, line);
    });

const revoke = (terminal: Terminal): Command =>
  new Command('revoke')
    .description('revoke a key immediately')
    .argument('<keyId>', 'ID of the key (not the key itself), as printed by "keys list"')
    .addOption(jsonOption())
    .action(async (keyId: string, { json }: JsonReply) => {
      const request = await openClient(terminal);
      await request('DELETE', `/keys/${encodeURIComponent(keyId)}`);
      if (json) printJson(terminal, { keyId, revoked: true });
      else print(terminal, `Revoked key ${keyId}.`);
    });

const whereKey = (path: string | null): string =>
  path === null ? 'It is not in a file: store it now.' : `It is also in ${path}.`;

const bootstrap = (terminal: Terminal, { bootstrapDistributed }: OwnerKeys): Command =>
  new Command('bootstrap')
    .description('create the tenant "local" and its owner key (distributed profile)')
    .addOption(jsonOption())
    .action(async ({ json }: JsonReply) => {
      const made = await bootstrapDistributed(terminal);
      if (json) printJson(terminal, made === null ? { made: false } : { made: true, tenantId: 'local', ...made });
      else if (made === null) remark(terminal, 'The tenant local already has an owner key. Nothing was changed.');
      else {
        print(terminal, made.key);
        remark(terminal, `Owner key of the tenant local. ${whereKey(made.path)} It is not shown again.`);
      }
    });

const recover = (terminal: Terminal, { recoverOwner }: OwnerKeys): Command =>
  new Command('recover')
    .description('create another owner key (embedded profile: stop the server first)')
    .option('--tenant <tenantId>', 'tenant that lost its owner key', 'local')
    .addOption(jsonOption())
    .action(async ({ json, tenant }: JsonReply & { tenant: string }) => {
      const { key, path } = await recoverOwner(terminal, tenant);
      if (json) {
        printJson(terminal, { tenantId: tenant, key, path });
        return;
      }
      print(terminal, key);
      remark(
        terminal,
        `New owner key of the tenant ${tenant}. ${whereKey(path)} All older keys stay valid: revoke the lost one.`,
      );
    });

/** `anima keys`: issue, list and revoke over HTTP; bootstrap and recover without a server. */
export const keysCommand = (terminal: Terminal, ownerKeys: OwnerKeys): Command =>
  new Command('keys')
    .description('issue, list and revoke API keys; create owner keys')
    .addCommand(issue(terminal))
    .addCommand(listKeys(terminal))
    .addCommand(revoke(terminal))
    .addCommand(bootstrap(terminal, ownerKeys))
    .addCommand(recover(terminal, ownerKeys));
