import { Command } from 'commander';

import type { CheckpointAt } from '../log.js';
import type { AuditAnswer } from '../verify-log.js';
import { openClient } from '../../../cli/shared/client.js';
import { writeTyped } from '../../../cli/shared/files.js';
import { CommandFailed, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';

const counted = (count: number, word: string): string => `${String(count)} ${word}${count === 1 ? '' : 's'}`;

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
      `${counted(broken, 'thing')} broken in ${counted(events, 'event')} and heads. docs/operations.md says what to do.`,
    );
  if (!json) remark(terminal, `Whole: ${counted(events, 'event')} and heads of the log, nothing broken.`);
};

/** `anima audit [npcId ...]`: the chains and the log; exit code 1 where something is broken. */
export const auditCommand = (terminal: Terminal): Command =>
  new Command('audit')
    .description('check the hash chains of all NPCs, or of some, and each head in the log against its stream')
    .argument('[npcId...]')
    .option('--json', 'print each part of the answer as a line of JSON')
    .action((npcIds: readonly string[], options: { readonly json?: true }) => audit(terminal, npcIds, options));

type CheckpointOptions = { readonly latest?: true; readonly out?: string; readonly json?: true };

const checkpoint = async (terminal: Terminal, { latest, out, json }: CheckpointOptions): Promise<void> => {
  const request = await openClient(terminal);
  const made = (await (latest
    ? request('GET', '/audit/checkpoints/latest')
    : request('POST', '/audit/checkpoints', {}))) as CheckpointAt;
  if (out !== undefined) {
    await writeTyped(terminal, out, made.note);
    remark(terminal, `Wrote ${out}: the log of size ${String(made.size)}, at ${made.at}.`);
  } else if (json) printJson(terminal, made);
  else for (const line of made.note.split('\n').slice(0, -1)) print(terminal, line);
};

/** `anima checkpoint`: the log of the tenant, signed as it is now. */
export const checkpointCommand = (terminal: Terminal): Command =>
  new Command('checkpoint')
    .description('sign the log of the tenant as it is now (needs a key with the scope ops), and show the note')
    .option('--latest', 'only show the newest checkpoint (scope audit)')
    .option('--out <file>', 'write the note to a file: keep it where the people who run the server cannot write')
    .option('--json', 'print the checkpoint as a line of JSON')
    .action((options: CheckpointOptions) => checkpoint(terminal, options));
