import { Command } from 'commander';

import { examples } from './shared/options.js';
import type { Terminal } from './shared/terminal.js';

/** `anima serve`: runs the server until it is stopped. */
export const serveCommand = (terminal: Terminal): Command =>
  new Command('serve')
    .description('run the server until it is interrupted (environment variables configure it)')
    .option('--json', 'log JSON lines even on a terminal')
    .action(async ({ json }: { readonly json?: true }) => {
      // Imported here, so the other commands do not load a server.
      const { serve } = await import('../server/serve.js');
      await serve({ ...terminal, json: json === true });
    })
    .addHelpText('after', examples('serve', 'serve --json'));
