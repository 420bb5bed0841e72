import { sha256Base64url } from './sha256.js';
/**
 * The id of a process: its stream's revision when the process was created (loading reads forwards from there), the time in milliseconds (its events'
 * ids insert in order), and a digest of the command that made it. `prefix` is one letter for the kind of process.
 */
export const makeProcessId = (prefix: string, revision: number, timeMs: number, commandId: string): string =>
  `${prefix}${Math.max(0, revision).toString(36)}_${timeMs.toString(36)}_${sha256Base64url(commandId).slice(0, 16)}`;

/** The parts of a process id; null if this is not a process id. */
export const parseProcessId = (id: string): { readonly revision: number; readonly timeMs: number } | null => {
  const match = /^[a-z]([0-9a-z]{1,10})_([0-9a-z]{1,10})_[A-Za-z0-9_-]{16}$/.exec(id);
  return match === null ? null : { revision: parseInt(match[1] ?? '', 36), timeMs: parseInt(match[2] ?? '', 36) };
};
