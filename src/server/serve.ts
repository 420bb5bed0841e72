import { once } from 'node:events';

import { systemClock } from '../adapters/system/clock.js';
import { endDespiteLeftovers } from '../adapters/system/leftovers.js';
import { onStopSignals } from '../adapters/system/stop-signals.js';
import { printable } from '../kernel/base/printable.js';
import { parseConfig } from '../config/config.js';
import type { Environment } from '../config/env.js';
import { createLogger, logOrigin } from '../config/logger.js';
import { startServer } from './server.js';
import { printTurns } from './turn-lines.js';
import { welcome } from './welcome.js';

export type ServeTerminal = {
  readonly env: Environment;
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Logs JSON lines even on a terminal. */
  readonly json?: boolean;
};

/**
 * Runs a server until it is stopped, and ends the process soon afterwards in any case.
 * @throws StartProblem when it cannot start
 */
export const serve = async (terminal: ServeTerminal): Promise<void> => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const unlisten = onStopSignals(process, systemClock, {
    stop: () => stopping.abort(),
    giveUp: () => process.exit(1),
  });
  const isTerminal = terminal.stdout.isTTY === true && terminal.json !== true;
  const say = (text: string): void => void terminal.stdout.write(text);
  try {
    const config = parseConfig(terminal.env, terminal.cwd);
    const logger = createLogger(config.logLevel, { write: say }, isTerminal, logOrigin(config));
    const server = await startServer(config, logger, signal);
    if (server === null) return;
    if (isTerminal) {
      say(welcome(config, server, terminal.cwd));
      void printTurns(server.events, (line) => say(`${printable(line)}\n`), signal).catch(() => undefined);
    } else {
      // Output that is not a terminal is stored, for example in a log or a pipeline.
      if (server.ownerKey !== null)
        logger.warn({ file: server.ownerKey.path }, 'Created the owner key; it is only in this file');
      // Programs that start a server wait for this message.
      logger.info({ url: server.url, dataDir: config.dataDir }, 'serving');
    }
    if (!signal.aborted) await once(signal, 'abort');
    logger.info({}, 'Stopping');
    await server.stop();
    // Without it, a log does not tell a clean stop from a process that was killed while it stopped.
    logger.info({}, 'Stopped');
  } finally {
    unlisten();
    endDespiteLeftovers();
  }
};
