import { CommandFailed, WrongUsage } from './terminal.js';

/** A check failed: exit code 1. */
export class JudgedNo extends CommandFailed {}

/** Everything holds, but nobody said whose key must have signed it. It has its own exit code. */
export class KeyNotChecked extends CommandFailed {}

/** A command could not judge; `cause` says why. It has its own exit code. */
export class NotJudged extends Error {
  constructor(cause: unknown) {
    super('nothing could be checked', { cause });
    this.name = 'NotJudged';
  }
}

/** Wraps the action of a command that checks something, so that a pipeline can tell a failed check from a missing server. @throws JudgedNo, NotJudged, WrongUsage */
export const judging =
  <Args extends readonly unknown[]>(action: (...args: Args) => Promise<void>) =>
  async (...args: Args): Promise<void> => {
    try {
      await action(...args);
    } catch (error) {
      throw error instanceof JudgedNo || error instanceof WrongUsage ? error : new NotJudged(error);
    }
  };
