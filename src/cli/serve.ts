import { Command } from 'commander';

import type { Terminal } from './shared/terminal.js';

/** `anima serve`: the server, until it is told to stop. */
export const serveCommand = (terminal: Terminal): Command =>
  new Command('serve')
    .description('run the server until it is interrupted (settings: environment variables, see the README)')
    .option('--json', 'log JSON lines, even on a terminal')
    .action(async ({ json }: { readonly json?: true }) => {
      // Imported here, so the other commands do not load a server.
      const { serve } = await import('../server/serve.js');
      await serve({ ...terminal, json: json === true });
    });
