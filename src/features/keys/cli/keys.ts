import { Command, InvalidArgumentError, Option } from 'commander';

import type { OwnerKey } from '../first-start.js';
import type { KeyAnswer } from '../http/routes.js';
import { defined } from '../../../kernel/base/defined.js';
import { localTenant } from '../../../kernel/base/stream-names.js';
import { scopes, type ScopeSet, scopeSetNames, scopeSets } from '../../../kernel/base/scopes.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, expiresAtOption, jsonOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, table, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';

type JsonReply = { readonly json?: true };
type Limit = 'off' | { readonly limit: number; readonly windowSeconds: number };
type Wish = { scopes?: string[]; set?: ScopeSet; rateLimit?: Limit; expiresAt?: string; test?: true };
type ShownKey = (typeof KeyAnswer)['static'] & {
  readonly lastUsedAt?: string | null;
  readonly revokedAt?: string | null;
};

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

/** The limit of a key that is changed: `default` for the one that keys have without their own. */
const changedLimit = (text: string): Limit | 'default' => (text === 'default' ? text : rateLimit(text));

const list = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

const limitText = (limit: Limit | null): string =>
  limit === null ? 'default' : limit === 'off' ? 'off' : `${String(limit.limit)}/${String(limit.windowSeconds)}`;

const asTable = (keys: readonly ShownKey[], withRevoked: boolean): string[] =>
  table([
    ['KEY ID', 'NAME', 'LIMIT', 'CREATED', 'LAST USED', 'EXPIRES', ...(withRevoked ? ['REVOKED'] : []), 'SCOPES'],
    ...keys.map((key) => [
      key.keyId,
      key.name,
      limitText(key.rateLimit),
      key.createdAt,
      key.lastUsedAt ?? 'never',
      key.expiresAt ?? 'never',
      ...(withRevoked ? [key.revokedAt ?? '-'] : []),
      key.scopes.join(','),
    ]),
  ]);

const issue = (terminal: Terminal): Command =>
  new Command('issue')
    .description('issue a key (it is shown only once)')
    .argument('<name>', 'name of the key, for example the game that uses it')
    .option(
      '--scopes <list>',
      `scopes separated by commas: ${scopes.join(', ')} (default: those of the set game)`,
      list,
    )
    .addOption(
      new Option('--set <name>', 'named set of scopes, by who holds the key')
        .choices(scopeSetNames)
        .conflicts('scopes'),
    )
    .option(
      '--rate-limit <limit>',
      'requests/seconds, for example 600/60, or "off" (default: ANIMA_RATE_LIMIT of the server)',
      rateLimit,
    )
    .addOption(expiresAtOption())
    .option('--test', 'issue a test key, which starts with am_test_')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'keys issue my-game --scopes npc,memory',
        'keys issue ci --scopes ghosts --rate-limit off',
        'keys issue press --set viewer',
      ),
    )
    .action(async (name: string, { json, set, ...wish }: JsonReply & Wish) => {
      const request = await openClient(terminal);
      // An older server ignores a set, and would grant its default scopes.
      const scopesOfSet = set === undefined ? {} : { scopes: scopeSets[set] };
      const made = (await request('POST', '/keys', { name, ...wish, ...scopesOfSet })) as ShownKey;
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
    .option('--revoked', 'also list revoked keys')
    .addOption(jsonOption())
    .action(async ({ json, revoked }: JsonReply & { revoked?: true }) => {
      const request = await openClient(terminal);
      const keys = (await request('GET', revoked ? '/keys?revoked=true' : '/keys')) as readonly ShownKey[];
      if (json) printJson(terminal, keys);
      else for (const line of asTable(keys, revoked === true)) print(terminal, line);
    });

type ChangeOptions = JsonReply & { readonly name?: string; readonly rateLimit?: Limit | 'default' };

const change = (terminal: Terminal): Command =>
  new Command('change')
    .description('change the name or the rate limit of a key')
    .argument('<keyId>', 'ID of the key (not the key itself), as printed by "keys list"')
    .option('--name <name>', 'new name of the key')
    .option(
      '--rate-limit <limit>',
      'requests/seconds, for example 600/60, "off", or "default" (ANIMA_RATE_LIMIT of the server)',
      changedLimit,
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('keys change 0YpwQ3uKPLZPiG9fP --name my-game', 'keys change 0YpwQ3uKPLZPiG9fP --rate-limit default'),
    )
    .action(async (keyId: string, { json, name, rateLimit: limit }: ChangeOptions) => {
      if (name === undefined && limit === undefined)
        throw new WrongUsage('Nothing to change: pass --name or --rate-limit.');
      const request = await openClient(terminal);
      const asked = defined({ name, rateLimit: limit === 'default' ? null : limit });
      const changed = (await request('PATCH', `/keys/${encodeURIComponent(keyId)}`, asked)) as ShownKey;
      if (json) printJson(terminal, changed);
      else print(terminal, `The key ${keyId} is called ${changed.name}; its limit is ${limitText(changed.rateLimit)}.`);
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
      if (json) printJson(terminal, made === null ? { made: false } : { made: true, tenantId: localTenant, ...made });
      else if (made === null) remark(terminal, 'The tenant local already has an owner key. Nothing was changed.');
      else {
        print(terminal, made.key);
        remark(terminal, `Owner key of the tenant local. ${whereKey(made.path)} It is not shown again.`);
      }
    });

const recover = (terminal: Terminal, { recoverOwner }: OwnerKeys): Command =>
  new Command('recover')
    .description('create another owner key (embedded profile: stop the server first)')
    .option('--tenant <tenantId>', 'tenant that lost its owner key', localTenant)
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

/** `anima keys`: issue, list, change and revoke over HTTP; bootstrap and recover without a server. */
export const keysCommand = (terminal: Terminal, ownerKeys: OwnerKeys): Command =>
  new Command('keys')
    .description('issue, list, change and revoke API keys; create owner keys')
    .addCommand(issue(terminal))
    .addCommand(listKeys(terminal))
    .addCommand(change(terminal))
    .addCommand(revoke(terminal))
    .addCommand(bootstrap(terminal, ownerKeys))
    .addCommand(recover(terminal, ownerKeys));
