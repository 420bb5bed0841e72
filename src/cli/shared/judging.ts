import { CommandFailed } from './terminal.js';

/** The "no" of a command that judges: exit code 1. */
export class JudgedNo extends CommandFailed {}

/** A command could not judge; `cause` says why. It has its own exit code. */
export class NotJudged extends Error {
  constructor(cause: unknown) {
    super('nothing was judged', { cause });
    this.name = 'NotJudged';
  }
}

/** The action of a command that judges: a pipeline must not take a server that is away for a "no". @throws JudgedNo, NotJudged */
export const judging =
  <Args extends readonly unknown[]>(action: (...args: Args) => Promise<void>) =>
  async (...args: Args): Promise<void> => {
    try {
      await action(...args);
    } catch (error) {
      throw error instanceof JudgedNo ? error : new NotJudged(error);
    }
  };
