import { Command } from 'commander';

import { Rejection } from '../kernel/base/rejection.js';
import { jsonOption } from './shared/options.js';
import { progressBar } from './shared/progress.js';
import { counted } from './shared/text.js';
import { CommandFailed, print, printJson, remark, type Terminal } from './shared/terminal.js';

const runRebuild = async (terminal: Terminal, json: boolean): Promise<void> => {
  // Imported here, so the other commands do not load a database.
  const [{ rebuild }, { projections }, { openOffline }] = await Promise.all([
    import('../kernel/read-models/rebuild.js'),
    import('../../projections/registry.js'),
    import('./offline.js'),
  ]);
  await using profile = (await openOffline(terminal, { mendReads: true })).profile;
  const { ports, writer } = profile;
  const bar = progressBar(terminal);
  const rebuilt = await rebuild({ events: ports.events, writer, clock: ports.clock }, projections, (progress) =>
    bar.update(progress.position, progress.last),
  ).finally(() => bar.end());
  const names = projections.map(({ name }) => name);
  if (json) printJson(terminal, { ...rebuilt, projections: names });
  else print(terminal, `Rebuilt ${names.join(', ')} from ${counted(rebuilt.events, 'event', 'events')}.`);
  if (rebuilt.parked === 0) return;
  remark(
    terminal,
    `${counted(rebuilt.parked, 'event', 'events')} could not be applied. The read models show the affected streams only up to those events.`,
  );
};

/** `anima rebuild`: rebuilds every read model from the events while the server is stopped. */
export const rebuildCommand = (terminal: Terminal): Command =>
  new Command('rebuild')
    .description('rebuild all read models from the events (offline: stop the server first)')
    .addOption(jsonOption())
    .action(({ json }: { readonly json?: true }) => runRebuild(terminal, json === true));

const runReembed = async (terminal: Terminal, json: boolean): Promise<void> => {
  const [{ reembed }, { openStored }] = await Promise.all([
    import('../features/memory/reembed.js'),
    import('./offline.js'),
  ]);
  await using profile = await openStored(terminal);
  const bar = progressBar(terminal);
  const { embedder } = profile.ports;
  let passedOver = 0;
  const embedded = await reembed(profile.ports, (progress) => {
    ({ passedOver } = progress);
    bar.update(progress.embedded, progress.total);
  })
    .catch((error: unknown) => {
      throw error instanceof Rejection ? new CommandFailed(error.message) : error;
    })
    .finally(() => bar.end());
  if (json) printJson(terminal, { embedder: embedder.id, embedded });
  else print(terminal, `Embedded ${counted(embedded, 'text', 'texts')} with ${embedder.id}.`);
  if (passedOver === 0) return;
  remark(
    terminal,
    `The embedder refused ${counted(passedOver, 'text', 'texts')}. Recall finds them only by their words.`,
  );
};

/** `anima reembed`: creates the vectors that the configured embedder has not created yet. */
export const reembedCommand = (terminal: Terminal): Command =>
  new Command('reembed')
    .description(
      'embed all memories that the configured embedder has not embedded yet (embedded profile: stop the server first)',
    )
    .addOption(jsonOption())
    .action(({ json }: { readonly json?: true }) => runReembed(terminal, json === true));
