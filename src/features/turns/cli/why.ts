import { Command } from 'commander';

import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { showWhy } from '../../../cli/shared/show-why.js';
import type { Terminal } from '../../../cli/shared/terminal.js';

/** `anima why <npcId> [turnId]`: explains the outcome of a turn. */
export const whyCommand = (terminal: Terminal): Command =>
  new Command('why')
    .description('explain the outcome of a turn: its rules, memories, prompt, model output and checks')
    .addArgument(npcIdArgument())
    .argument('[turnId]', 'ID of the turn (default: the latest turn that has ended)')
    .addOption(jsonOption())
    .addHelpText('after', examples('why mira', 'why mira <turnId>'))
    .action(async (npcId: string, turnId: string | undefined, { json = false }: { readonly json?: boolean }) => {
      await showWhy(terminal, await openClient(terminal), { npcId, json, ...(turnId === undefined ? {} : { turnId }) });
    });
