import { Command, InvalidArgumentError } from 'commander';

import type { OwnerKey } from '../first-start.js';
import type { KeyAnswer } from '../http/routes.js';
import { openClient } from '../../../cli/shared/client.js';
import { print, printJson, remark, table, type Terminal } from '../../../cli/shared/terminal.js';

type JsonReply = { readonly json?: true };
type Limit = 'off' | { readonly limit: number; readonly windowSeconds: number };
type Wish = { scopes?: string[]; rateLimit?: Limit; expiresAt?: string; test?: true };
type ShownKey = (typeof KeyAnswer)['static'] & { readonly lastUsedAt?: string | null };

/** How owner keys are made without a server. */
type OwnerKeys = {
  /** Null when the tenant has one already. */
  readonly bootstrapDistributed: (terminal: Terminal) => Promise<OwnerKey | null>;
  readonly recoverOwner: (terminal: Terminal, tenantId: string) => Promise<OwnerKey>;
};

const rateLimit = (text: string): Limit => {
  const match = /^(\d{1,7})\/(\d{1,5})$/.exec(text);
  if (text === 'off') return text;
  if (match === null) throw new InvalidArgumentError('It must look like 100/60 (requests/seconds), or be "off".');
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
    .description('issue a key; it is shown only once')
    .argument('<name>', 'what the key is for')
    .option(
      '--scopes <list>',
      'npc, memory, rules, souls, ghosts, audit, ops, admin; default: all but ops and admin',
      list,
    )
    .option('--rate-limit <limit>', 'requests/seconds, for example 600/60, or off', rateLimit)
    .option('--expires-at <time>', 'RFC 3339, for example 2027-01-01T00:00:00Z')
    .option('--test', 'make an am_test_ key')
    .option('--json', 'print the answer as JSON')
    .action(async (name: string, { json, ...wish }: JsonReply & Wish) => {
      const request = await openClient(terminal);
      const made = (await request('POST', '/keys', { name, ...wish })) as ShownKey;
      if (json) {
        printJson(terminal, made);
        return;
      }
      print(terminal, made.key ?? '');
      remark(terminal, `Key ${made.keyId} (${made.scopes.join(', ')}). Keep it: it is not shown again.`);
    });

const listKeys = (terminal: Terminal): Command =>
  new Command('list')
    .description("list the tenant's keys")
    .option('--json', 'print the answer as JSON')
    .action(async ({ json }: JsonReply) => {
      const request = await openClient(terminal);
      const keys = (await request('GET', '/keys')) as readonly ShownKey[];
      if (json) printJson(terminal, keys);
      else for (const line of asTable(keys)) print(terminal, line);
    });

const revoke = (terminal: Terminal): Command =>
  new Command('revoke')
    .description('revoke a key immediately')
    .argument('<keyId>', 'the id, not the key itself')
    .option('--json', 'print the answer as JSON')
    .action(async (keyId: string, { json }: JsonReply) => {
      const request = await openClient(terminal);
      await request('DELETE', `/keys/${encodeURIComponent(keyId)}`);
      if (json) printJson(terminal, { keyId, revoked: true });
      else print(terminal, `Key ${keyId} is revoked.`);
    });

const bootstrap = (terminal: Terminal, { bootstrapDistributed }: OwnerKeys): Command =>
  new Command('bootstrap')
    .description('make the tenant "local" and its owner key (distributed profile)')
    .option('--json', 'print the answer as JSON')
    .action(async ({ json }: JsonReply) => {
      const made = await bootstrapDistributed(terminal);
      if (json) printJson(terminal, made === null ? { made: false } : { made: true, tenantId: 'local', ...made });
      else if (made === null) remark(terminal, 'The tenant local already has its owner key; nothing was done.');
      else {
        print(terminal, made.key);
        remark(
          terminal,
          `The owner key of the tenant local. It is in ${made.path ?? 'no file'} and is not shown again.`,
        );
      }
    });

const recover = (terminal: Terminal, { recoverOwner }: OwnerKeys): Command =>
  new Command('recover')
    .description('make another owner key (embedded profile: stop the server first)')
    .option('--tenant <id>', 'the tenant whose owner key was lost', 'local')
    .option('--json', 'print the answer as JSON')
    .action(async ({ json, tenant }: JsonReply & { tenant: string }) => {
      const { key, path } = await recoverOwner(terminal, tenant);
      if (json) {
        printJson(terminal, { tenantId: tenant, key, path });
        return;
      }
      print(terminal, key);
      const where = path === null ? 'It is in no file: keep it.' : `It is in ${path}.`;
      remark(
        terminal,
        `New owner key of the tenant ${tenant}. ${where} Keys issued before stay valid; revoke the lost one.`,
      );
    });

/** `anima keys`: issue, list and revoke over HTTP; bootstrap and recover without a server. */
export const keysCommand = (terminal: Terminal, ownerKeys: OwnerKeys): Command =>
  new Command('keys')
    .description('API keys: issue, list, revoke, bootstrap, recover')
    .addCommand(issue(terminal))
    .addCommand(listKeys(terminal))
    .addCommand(revoke(terminal))
    .addCommand(bootstrap(terminal, ownerKeys))
    .addCommand(recover(terminal, ownerKeys));
