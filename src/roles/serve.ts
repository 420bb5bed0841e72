import { once } from 'node:events';
import { relative } from 'node:path';

import { printable } from '../domain/shared/printable.js';
import { parseConfig, type Config } from '../config/config.js';
import type { Environment } from '../config/env.js';
import { createLogger } from '../config/logger.js';
import { type RunningServer, startServer } from './server.js';
import { printTurns } from './turn-lines.js';

export type ServeTerminal = {
  readonly env: Environment;
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Log lines of JSON, also on a terminal. */
  readonly json?: boolean;
};

/** Signals that end the server in order; the second one ends it at once (contract 11.3). */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Runs a server until it is told to stop.
 * @throws StartProblem when it cannot start
 */
export const serve = async (terminal: ServeTerminal): Promise<void> => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const onSignal = (): void => {
    if (signal.aborted) process.exit(1);
    stopping.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  const isTerminal = terminal.stdout.isTTY === true && terminal.json !== true;
  const say = (text: string): void => void terminal.stdout.write(text);
  try {
    const config = parseConfig(terminal.env, terminal.cwd);
    const logger = createLogger(config.logLevel, { write: say }, isTerminal);
    const server = await startServer(config, logger, signal);
    if (server === null) return;
    if (isTerminal) {
      say(welcome(config, server, terminal.cwd));
      void printTurns(server.events, (line) => say(`${printable(line)}\n`), signal).catch(() => undefined);
    } else {
      if (server.ownerKey !== null) say(`${ownerKeyLines(server.ownerKey)}\n`);
      logger.info({ url: server.url, dataDir: config.dataDir }, 'serving');
    }
    if (!signal.aborted) await once(signal, 'abort');
    logger.info({}, 'stopping');
    await server.stop();
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
};

const ownerKeyLines = ({ key, path }: NonNullable<RunningServer['ownerKey']>): string =>
  `The owner key of this server, shown this once: ${key}\n` +
  (path === null ? '' : `It also stands in ${path}, readable by you alone.\n`);

const welcome = (config: Config, { url, ownerKey }: RunningServer, cwd: string): string => {
  const keyFile = relative(cwd, `${config.dataDir}/owner-key`);
  return `
Anima listens on ${url}; everything it remembers stands in ${config.dataDir}.
${ownerKey === null ? '' : ownerKeyLines(ownerKey)}
Open a turn (copy this into another terminal):

  curl -s ${url}/npcs/mira/process -H "Authorization: Bearer $(cat ${keyFile})" \\
    -H 'Content-Type: application/json' -d '{"tape": {"observation": "A stranger enters the inn and asks for a room."}}'

See three NPCs play a scene:  npm run demo
Read the interface:           ${url}/docs

Each turn that ends is shown below. Stop with Ctrl+C.

`;
};
