import { Command } from 'commander';

import type { CheckpointAt } from '../log.js';
import type { AuditAnswer } from '../verify-log.js';
import { openClient } from '../../../cli/shared/client.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { examples, jsonOption, outOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';

const audit = async (
  terminal: Terminal,
  npcIds: readonly string[],
  { json }: { readonly json?: true },
): Promise<void> => {
  const request = await openClient(terminal);
  let [events, broken] = [0, 0];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const asked = { ...(npcIds.length === 0 ? {} : { npcIds }), ...(after === undefined ? {} : { after }) };
    const page = (await request('POST', '/audit/verify', asked)) as AuditAnswer;
    if (json) printJson(terminal, page);
    else
      for (const { npcId, revision, reason } of page.broken)
        print(terminal, `${npcId ?? 'the log'}  revision ${String(revision)}: ${reason}`);
    events += page.events;
    broken += page.broken.length;
    after = page.next;
  }
  if (broken > 0)
    throw new CommandFailed(
      `The audit found ${counted(broken, 'problem', 'problems')} in ${counted(events, 'event', 'events')} and the log. ` +
        'docs/operate/broken-chain.md says what to do.',
    );
  if (!json) remark(terminal, `All intact: ${counted(events, 'event', 'events')} and the heads in the log.`);
};

/** `anima audit [npcId...]`: checks hash chains and the log; exit code 1 when something is broken. */
export const auditCommand = (terminal: Terminal): Command =>
  new Command('audit')
    .description('check hash chains, and compare each head in the log with its stream; fail if anything is broken')
    .argument('[npcId...]', 'IDs of the NPCs (default: all NPCs)')
    .addOption(jsonOption('page'))
    .addHelpText('after', examples('audit', 'audit mira odo'))
    .action((npcIds: readonly string[], options: { readonly json?: true }) => audit(terminal, npcIds, options));

type CheckpointOptions = { readonly latest?: true; readonly out?: string; readonly json?: true };

const checkpoint = async (terminal: Terminal, { latest, out, json }: CheckpointOptions): Promise<void> => {
  const request = await openClient(terminal);
  const made = (await (latest
    ? request('GET', '/audit/checkpoints/latest')
    : request('POST', '/audit/checkpoints', {}))) as CheckpointAt;
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
