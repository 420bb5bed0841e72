import { Command } from 'commander';

import { Rejection } from '../kernel/base/rejection.js';
import { progressBar } from './shared/progress.js';
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
  else print(terminal, `Rebuilt ${names.join(', ')} from ${String(rebuilt.events)} events.`);
  if (rebuilt.parked === 0) return;
  remark(
    terminal,
    `${String(rebuilt.parked)} events could not be applied; their streams stop there in these read models.`,
  );
};

/** `anima rebuild`: rebuilds every read model from the events while the server is stopped. */
export const rebuildCommand = (terminal: Terminal): Command =>
  new Command('rebuild')
    .description('build every read model again from the events (offline: stop the server first)')
    .option('--json', 'print the outcome as JSON')
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
  else print(terminal, `Embedded ${String(embedded)} texts with ${embedder.id}.`);
  if (passedOver === 0) return;
  remark(
    terminal,
    `Texts that the embedder keeps refusing: ${String(passedOver)}. They are found by their words alone.`,
  );
};

/** `anima reembed`: creates the vectors that the configured embedder has not created yet. */
export const reembedCommand = (terminal: Terminal): Command =>
  new Command('reembed')
    .description(
      'embed every memory that the configured embedder has not embedded yet (embedded profile: offline, stop the server first)',
    )
    .option('--json', 'print the outcome as JSON')
    .action(({ json }: { readonly json?: true }) => runReembed(terminal, json === true));
