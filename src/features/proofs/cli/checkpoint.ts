import { Command } from 'commander';

import type { CheckpointAt } from '../log.js';
import type { LogStatus } from '../log-status.js';
import { openClient } from '../../../cli/shared/client.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { examples, jsonOption, outOption } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

/** Says that checkpoints did not reach their receiver: whoever relies on it should not learn that from silence. */
export const remarkUnpublished = (terminal: Terminal, handedOn: LogStatus['handedOn']): void => {
  if (handedOn === null || handedOn.failed === null) return;
  remark(
    terminal,
    `Not published: the checkpoints after size ${String(handedOn.upTo)} did not reach ANIMA_CHECKPOINT_URL (${handedOn.failed}). They are sent with the next one.`,
  );
};

type CheckpointOptions = { readonly latest?: true; readonly out?: string; readonly json?: true };

/** How long a checkpoint may take, in milliseconds: longer than the server waits for it, so that its answer says why. */
const CHECKPOINT_MS = 40_000;

const checkpoint = async (terminal: Terminal, { latest, out, json }: CheckpointOptions): Promise<void> => {
  const request = await openClient(terminal, CHECKPOINT_MS);
  const made = (await (latest
    ? request('GET', '/audit/checkpoints/latest')
    : request('POST', '/audit/checkpoints', {}))) as CheckpointAt & Pick<LogStatus, 'handedOn'>;
  remarkUnpublished(terminal, made.handedOn);
  if (made.clock !== undefined)
    remark(
      terminal,
      `The clock of the server said ${made.clock}, which is before the previous checkpoint; the time of that one was taken.`,
    );
  if (out !== undefined) {
    await writeTyped(terminal, out, made.note);
    remark(terminal, `Wrote ${out}: a checkpoint of the log at size ${String(made.size)}, made at ${made.at}.`);
  } else if (json) printJson(terminal, made);
  else for (const line of made.note.split('\n').slice(0, -1)) print(terminal, line);
};

/** `anima checkpoint`: signs the log of the tenant in its current state. */
export const checkpointCommand = (terminal: Terminal): Command =>
  new Command('checkpoint')
    .description('sign the current log of the tenant and print the checkpoint (scope ops)')
    .option('--latest', 'print the latest checkpoint instead of making one (scope audit)')
    .addOption(outOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nKeep the file in a place where the operators of the server cannot change it.\n${examples('checkpoint --out checkpoint.note')}`,
    )
    .action((options: CheckpointOptions) => checkpoint(terminal, options));
