import { Command } from 'commander';

import { progressBar } from './progress.js';
import { print, printJson, remark, type Terminal } from './terminal.js';

const run = async (terminal: Terminal, json: boolean): Promise<void> => {
  // Imported here, so the other commands do not load a database.
  const [{ rebuild }, { projections }, { openOffline }] = await Promise.all([
    import('../app/read-models/rebuild.js'),
    import('../../projections/registry.js'),
    import('./offline.js'),
  ]);
  await using profile = (await openOffline(terminal, { mendReads: true })).profile;
  const { ports, writer } = profile;
  const bar = progressBar(terminal);
  try {
    const rebuilt = await rebuild(
      { events: ports.events, writer, clock: ports.clock },
      projections,
      ({ position, last }) => {
        bar.update(position, last);
      },
    );
    bar.end();
    const names = projections.map(({ name }) => name);
    if (json) printJson(terminal, { ...rebuilt, projections: names });
    else print(terminal, `Rebuilt ${names.join(', ')} from ${String(rebuilt.events)} events.`);
    if (rebuilt.parked > 0) {
      remark(
        terminal,
        `${String(rebuilt.parked)} events could not be applied; their streams stop there in these read models.`,
      );
    }
  } catch (error) {
    bar.end();
    throw error;
  }
};

/** `anima rebuild`: builds every read model again from the events, while the server is stopped (contract 11.5). */
export const rebuildCommand = (terminal: Terminal): Command =>
  new Command('rebuild')
    .description('build every read model again from the events (offline: stop the server first)')
    .option('--json', 'print the outcome as JSON')
    .action(({ json }: { readonly json?: true }) => run(terminal, json === true));
