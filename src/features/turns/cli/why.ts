import { Command } from 'commander';

import { openClient } from '../../../cli/shared/client.js';
import { showWhy } from '../../../cli/shared/show-why.js';
import type { Terminal } from '../../../cli/shared/terminal.js';

/** `anima why <npcId> [turnId]`: everything that a turn rested on. */
export const whyCommand = (terminal: Terminal): Command =>
  new Command('why')
    .description('show everything that a turn rested on: rules, memories, prompt, model, checks')
    .argument('<npcId>')
    .argument('[turnId]', 'the newest turn that has ended, when it is left out')
    .option('--json', 'print all of it as a line of JSON')
    .action(async (npcId: string, turnId: string | undefined, { json = false }: { readonly json?: boolean }) => {
      await showWhy(terminal, await openClient(terminal), { npcId, json, ...(turnId === undefined ? {} : { turnId }) });
    });
