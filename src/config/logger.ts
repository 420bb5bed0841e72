import { pino, type DestinationStream, type Logger } from 'pino';

import type { Config, LogLevel } from './config.js';

/** Members whose values never reach the log, wherever they stand in the first three levels of what is logged. */
const secretMembers = ['authorization', 'Authorization', 'apiKey', 'authKey', 'key', 'secret'];
const redacted = secretMembers.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Which process a line is of. */
export type LogOrigin = {
  readonly pid: number;
  /** Only where there are several: the distributed profile. */
  readonly roles?: readonly string[];
  readonly namespace?: string;
};

/** Where a process's lines come from, as its settings say. */
export const logOrigin = ({ distributed }: Pick<Config, 'distributed'>): LogOrigin => {
  const { pid } = process;
  return distributed === null ? { pid } : { pid, roles: [...distributed.roles], namespace: distributed.namespace };
};

/** A person's log line: time, level, message, and what else was said, each on one line. */
const readable = (line: string): string => {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const word = pino.levels.labels[Number(level)] ?? 'log';
  const clock = new Date(Number(time)).toISOString().slice(11, 19);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const { stack } = (err ?? {}) as { readonly stack?: string };
  const parts = [clock, word === 'info' ? '' : word, typeof msg === 'string' ? msg : '', ...fields];
  return `${parts.filter((part) => part !== '').join(' ')}${stack === undefined ? '' : `\n${stack}`}\n`;
};

/**
 * The server's log: JSON lines that name the process, on a terminal one readable line each. Keys and secrets are replaced by `[redacted]` (contract 11).
 * @param terminal whether a person reads it, who started the one process
 */
export const createLogger = (
  level: LogLevel,
  output: DestinationStream = process.stdout,
  terminal: boolean = process.stdout.isTTY,
  origin: LogOrigin = { pid: process.pid },
): Logger =>
  pino(
    { level, base: terminal ? null : origin, redact: { paths: redacted, censor: '[redacted]' } },
    terminal ? { write: (line: string) => output.write(readable(line)) } : output,
  );
