import { pino, type DestinationStream, type Logger } from 'pino';

import type { LogLevel } from './config.js';

/** Members whose values never reach the log, wherever they stand in the first three levels of what is logged. */
const secretMembers = ['authorization', 'Authorization', 'apiKey', 'authKey', 'key', 'secret'];
const redacted = secretMembers.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

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
 * The server's log: JSON lines, on a terminal one readable line each. Keys and secrets are replaced by `[redacted]` (contract 11).
 * @param terminal whether a person reads it
 */
export const createLogger = (
  level: LogLevel,
  output: DestinationStream = process.stdout,
  terminal: boolean = process.stdout.isTTY,
): Logger =>
  pino(
    { level, base: null, redact: { paths: redacted, censor: '[redacted]' } },
    terminal ? { write: (line: string) => output.write(readable(line)) } : output,
  );
