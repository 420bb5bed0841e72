import { Command, InvalidArgumentError } from 'commander';

import type { PlayerTokenAnswer } from '../http/player-tokens.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { defined } from '../../../kernel/base/defined.js';

type TokenOptions = {
  readonly npc: readonly string[];
  readonly name?: string;
  readonly expiresIn?: number;
  readonly json?: true;
};

const seconds = (text: string): number => {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('It must be a number of seconds, at most 3600.');
  return Number(text);
};

/** `anima player-token <playerId>`: lets a player talk to some NPCs for a while. */
export const playerTokenCommand = (terminal: Terminal): Command =>
  new Command('player-token')
    .description('issue a token with which a player may talk to NPCs, for an hour at most')
    .argument('<playerId>', 'ID of the player')
    .requiredOption('--npc <npcId...>', 'NPCs to whom the player may speak')
    .option('--name <name>', 'name of the player')
    .option('--expires-in <seconds>', 'how long the token is valid (default: 3600)', seconds)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('player-token p-ann --npc mira', 'player-token p-ann --npc mira tomas --expires-in 900'),
    )
    .action(async (id: string, { npc: npcs, name, expiresIn: expiresInSeconds, json }: TokenOptions) => {
      const request = await openClient(terminal);
      const body = { player: { id, ...defined({ name }) }, npcs, ...defined({ expiresInSeconds }) };
      const issued = (await request('POST', '/player-tokens', body)) as (typeof PlayerTokenAnswer)['static'];
      if (json) {
        printJson(terminal, issued);
        return;
      }
      print(terminal, issued.token);
      remark(terminal, `Valid until ${issued.expiresAt}, or until the API key that asked for it is revoked.`);
    });
