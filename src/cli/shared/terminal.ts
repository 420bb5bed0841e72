import type { Readable, Writable } from 'node:stream';

import type { Environment } from '../../config/env.js';
import { printable } from '../../kernel/base/printable.js';

/** The input and output of a command. Tests pass their own. */
export type Terminal = {
  readonly env: Environment;
  /** Relative paths start here. */
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
};

/** A failure that the user can act on. Only its message is shown. */
export class CommandFailed extends Error {
  /** The server's code where a request was refused; UNREACHABLE where no server answered. */
  readonly code: string | null;
  /** Seconds after which the server suggests a retry. */
  readonly retryAfter: number | null;
  /** The details of the server's error. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    code: string | null = null,
    retryAfter: number | null = null,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'CommandFailed';
    this.code = code;
    this.retryAfter = retryAfter;
    this.details = details;
  }
}

/** The command line asks for something that makes no sense, which only the command itself can see. */
export class WrongUsage extends CommandFailed {}

/** Whether the output is still read: `anima history x | head` closes the pipe early. */
export const isRead = ({ stdout }: Terminal): boolean => stdout.writable;

/** Prints one line, safely; does nothing once the reader has gone. */
export const print = (terminal: Terminal, line: string): void => {
  if (isRead(terminal)) terminal.stdout.write(`${printable(line)}\n`);
};

/** Resolves when the reader has caught up or left, so a long output does not pile up in memory. */
export const caughtUp = ({ stdout }: Terminal): Promise<void> =>
  new Promise((resolve) => {
    const events = ['drain', 'close', 'error'];
    const done = (): void => {
      for (const event of events) stdout.off(event, done);
      resolve();
    };
    if (!stdout.writableNeedDrain || !stdout.writable) resolve();
    else for (const event of events) stdout.once(event, done);
  });

/** Prints a value as one line of JSON. */
export const printJson = (terminal: Terminal, value: unknown): void => print(terminal, JSON.stringify(value));

/** Prints a remark on stderr, separate from the result. */
export const remark = ({ stderr }: Terminal, line: string): void => {
  if (stderr.writable) stderr.write(`${printable(line)}\n`);
};

/** Rows with aligned columns. */
export const table = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
};

/**
 * Keeps a closed pipe from ending the process with a stack trace. The rest of the output is dropped, and the command finishes. Any other failure to
 * write is passed to `onFailure`.
 */
export const tolerateClosedPipe = (stream: Writable, onFailure: (error: Error) => void): void => {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') onFailure(error);
  });
};
