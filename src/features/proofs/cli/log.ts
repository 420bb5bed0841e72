import { Command } from 'commander';

import type { RestartedLog } from '../restart-log.js';
import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

type RestartOptions = { readonly reason: string; readonly json?: true };

const restart = async (terminal: Terminal, { reason, json }: RestartOptions): Promise<void> => {
  const request = await openClient(terminal);
  const log = (await request('POST', '/audit/log/restart', { reason })) as RestartedLog;
  if (json) {
    printJson(terminal, log);
    return;
  }
  print(terminal, log.origin);
  remark(
    terminal,
    'The next checkpoint is signed under this name. Tell everyone who keeps checkpoints of the old log why it ended.',
  );
};

/** `anima log restart`: gives the log of the tenant a new name, after its store has lost a part of it. */
export const logCommand = (terminal: Terminal): Command =>
  new Command('log').description('restart the signed log of the tenant').addCommand(
    new Command('restart')
      .description('continue the log under a new name, after an older backup was restored (scope ops)')
      .requiredOption('--reason <text>', 'why; it is recorded in the log')
      .addOption(jsonOption())
      .addHelpText('after', examples('log restart --reason "the backup of 12 May was restored"'))
      .action((options: RestartOptions) => restart(terminal, options)),
  );
