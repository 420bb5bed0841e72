import { pino, type DestinationStream, type Logger } from 'pino';

import type { Config } from './config.js';
import type { LogLevel } from './settings/server-settings.js';

/** Members whose values never reach the log, anywhere in the first three levels of the logged fields. */
const secretMembers = [
  'authorization',
  'Authorization',
  'apiKey',
  'authKey',
  'key',
  'secret',
  'password',
  'payloadKeys',
];
const redacted = secretMembers.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** The process that wrote a line. */
export type LogOrigin = {
  readonly pid: number;
  /** Only in the distributed profile, which has several processes. */
  readonly roles?: readonly string[];
  readonly namespace?: string;
};

/** The origin of the log lines of this process, by its settings. */
export const logOrigin = ({ distributed }: Pick<Config, 'distributed'>): LogOrigin => {
  const { pid } = process;
  return distributed === null ? { pid } : { pid, roles: [...distributed.roles], namespace: distributed.namespace };
};

/** A log line for people: time, level, message and the other fields, on one line. */
const readable = (line: string): string => {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const word = pino.levels.labels[Number(level)] ?? 'log';
  const clock = String(time).slice(11, 19);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const { stack } = (err ?? {}) as { readonly stack?: string };
  const parts = [clock, word === 'info' ? '' : word, typeof msg === 'string' ? msg : '', ...fields];
  return `${parts.filter((part) => part !== '').join(' ')}${stack === undefined ? '' : `\n${stack}`}\n`;
};

/**
 * The server's log: JSON lines that name the process, or readable lines on a terminal. Keys and secrets are replaced by `[redacted]`.
 * @param terminal whether a person who started this one process reads the log
 */
export const createLogger = (
  level: LogLevel,
  output: DestinationStream = process.stdout,
  terminal: boolean = process.stdout.isTTY,
  origin: LogOrigin = { pid: process.pid },
): Logger =>
  pino(
    {
      level,
      base: terminal ? null : origin,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: redacted, censor: '[redacted]' },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
    },
    terminal ? { write: (line: string) => output.write(readable(line)) } : output,
  );
