import { Command } from 'commander';

import { Rejection } from '../domain/shared/rejection.js';
import { progressBar } from './progress.js';
import { CommandFailed, print, printJson, remark, type Terminal } from './terminal.js';

const run = async (terminal: Terminal, json: boolean): Promise<void> => {
  // Imported here, so the other commands do not load a database.
  const [{ reembed }, { openStored }] = await Promise.all([import('../app/memory/reembed.js'), import('./offline.js')]);
  await using profile = await openStored(terminal);
  const bar = progressBar(terminal);
  try {
    const { embedder } = profile.ports;
    let passedOver = 0;
    const embedded = await reembed(profile.ports, (progress) => {
      ({ passedOver } = progress);
      bar.update(progress.embedded, progress.total);
    });
    bar.end();
    if (json) printJson(terminal, { embedder: embedder.id, embedded });
    else print(terminal, `Embedded ${String(embedded)} texts with ${embedder.id}.`);
    if (passedOver > 0) {
      remark(
        terminal,
        `Texts that the embedder keeps refusing: ${String(passedOver)}. They are found by their words alone.`,
      );
    }
  } catch (error) {
    bar.end();
    if (error instanceof Rejection) throw new CommandFailed(error.message);
    throw error;
  }
};

/** `anima reembed`: makes the vectors that the configured embedder has not made yet (contract 11.5). */
export const reembedCommand = (terminal: Terminal): Command =>
  new Command('reembed')
    .description(
      'embed every memory that the configured embedder has not embedded yet (embedded profile: offline, stop the server first)',
    )
    .option('--json', 'print the outcome as JSON')
    .action(({ json }: { readonly json?: true }) => run(terminal, json === true));
