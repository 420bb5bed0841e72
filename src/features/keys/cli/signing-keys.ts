import { Command } from 'commander';

import type { ShownSigningKey } from '../http/signing-keys.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { sinceOf } from '../../../cli/shared/since.js';
import { print, printJson, remark, table, type Terminal } from '../../../cli/shared/terminal.js';
import { defined } from '../../../kernel/base/defined.js';

type JsonReply = { readonly json?: true };

const standing = ({ current, revokedSince }: ShownSigningKey): string => {
  if (revokedSince !== null) return `revoked since ${revokedSince}`;
  return current ? 'signs' : 'verifies';
};

const list = (terminal: Terminal): Command =>
  new Command('list')
    .description('list the keys that sign verdicts, souls and checkpoints, oldest first')
    .addOption(jsonOption())
    .action(async ({ json }: JsonReply) => {
      const request = await openClient(terminal);
      const listed = (await request('GET', '/signing-keys')) as { readonly keys: readonly ShownSigningKey[] };
      const rows = listed.keys.map((key) => [key.kid, key.alg, key.madeAt, standing(key), key.reason ?? '']);
      if (json) printJson(terminal, listed);
      else for (const line of table([['KEY', 'ALG', 'MADE', 'STATE', 'REASON'], ...rows])) print(terminal, line);
    });

const rotate = (terminal: Terminal): Command =>
  new Command('rotate')
    .description('make a new key, which signs from now on (owner key of the tenant local)')
    .addOption(jsonOption())
    .action(async ({ json }: JsonReply) => {
      const request = await openClient(terminal);
      const made = (await request('POST', '/signing-keys/rotate')) as ShownSigningKey;
      if (json) {
        printJson(terminal, made);
        return;
      }
      print(terminal, made.kid);
      remark(
        terminal,
        'This key signs from now on. Older signatures still verify, and the next checkpoint of each log is signed by both keys.',
      );
    });

const revoke = (terminal: Terminal): Command =>
  new Command('revoke')
    .description('refuse what an old key signed since a time (owner key of the tenant local)')
    .argument('<kid>', 'thumbprint of the key, as printed by "signing-keys list"; put -- before one that begins with -')
    .option(
      '--since <time>',
      'what it signed since then is void: RFC 3339, a UTC day, or an age such as 7d (default: now)',
      sinceOf(Date.now),
    )
    .requiredOption('--reason <text>', 'why (it is public)')
    .addOption(jsonOption())
    .addHelpText('after', examples('signing-keys revoke --since 2d --reason "A backup was copied" -- "$old"'))
    .action(async (kid: string, { json, since, reason }: JsonReply & { since?: string; reason: string }) => {
      const request = await openClient(terminal);
      const path = `/signing-keys/${encodeURIComponent(kid)}/revoke`;
      const revoked = (await request('POST', path, { ...defined({ since }), reason })) as ShownSigningKey;
      if (json) printJson(terminal, revoked);
      else print(terminal, `What the key ${kid} signed since ${String(revoked.revokedSince)} is void on this server.`);
    });

/** `anima signing-keys`: list, rotate and revoke the keys that sign. */
export const signingKeysCommand = (terminal: Terminal): Command =>
  new Command('signing-keys')
    .description('list, rotate and revoke the keys that sign verdicts, souls and checkpoints')
    .addCommand(list(terminal))
    .addCommand(rotate(terminal))
    .addCommand(revoke(terminal));
