import { Command, CommanderError } from 'commander';

import { StartProblem } from '../kernel/base/start-problem.js';
import { apiVersion } from '../kernel/http/api-version.js';
import { auditCommand, checkpointCommand } from '../features/proofs/cli/audit.js';
import { bundleCommand } from '../features/proofs/cli/bundle.js';
import { cardCommand } from '../features/cards/cli/card.js';
import { chainCommand } from '../features/npcs/cli/chain.js';
import { coverageCommand } from '../features/replays/cli/coverage.js';
import { demoCommand } from './demo.js';
import { ghostCommand } from '../features/ghosts/cli/ghost.js';
import { historyCommand } from '../features/npcs/cli/history.js';
import { NotJudged } from './shared/judging.js';
import { keysCommand } from '../features/keys/cli/keys.js';
import { levelCommand } from '../features/levels/cli/level.js';
import { lineageCommand } from '../features/memory/cli/lineage.js';
import { memoriesCommand } from '../features/memory/cli/memories.js';
import { rebuildCommand, reembedCommand } from './rebuild.js';
import { replaysCommand, trialCommand } from '../features/replays/cli/replay.js';
import { retractCommand } from '../features/memory/cli/retract.js';
import { searchCommand } from '../features/search/cli/search.js';
import { serveCommand } from './serve.js';
import { soulCommand } from '../features/souls/cli/soul.js';
import { CommandFailed, remark, type Terminal } from './shared/terminal.js';
import { talkCommand } from '../features/agents/cli/talk.js';
import { turnsCommand } from '../features/turns/cli/turns.js';
import { verifyCommand } from '../features/proofs/cli/verify.js';
import { whyCommand } from '../features/turns/cli/why.js';

/** The exit codes of every command. */
export const exitCodes = { done: 0, failed: 1, usage: 2, notJudged: 3 } as const;

/** What they open is loaded when it is needed: most commands ask a server. */
const ownerKeys: Parameters<typeof keysCommand>[1] = {
  bootstrapDistributed: async (terminal) => (await import('./offline.js')).bootstrapDistributed(terminal),
  recoverOwner: async (terminal, tenantId) => (await import('./offline.js')).recoverOwner(terminal, tenantId),
};

const program = (terminal: Terminal): Command => {
  const anima = new Command('anima')
    .description('The mind of game NPCs, as a service: every thought an event, every decision replayable.')
    .version(apiVersion, '-V, --version', 'output the version')
    // A command may have an option of the same name, such as the version of a card.
    .enablePositionalOptions()
    .addCommand(serveCommand(terminal))
    .addCommand(demoCommand(terminal))
    .addCommand(keysCommand(terminal, ownerKeys))
    .addCommand(historyCommand(terminal))
    .addCommand(turnsCommand(terminal))
    .addCommand(whyCommand(terminal))
    .addCommand(searchCommand(terminal))
    .addCommand(talkCommand(terminal))
    .addCommand(memoriesCommand(terminal))
    .addCommand(lineageCommand(terminal))
    .addCommand(retractCommand(terminal))
    .addCommand(coverageCommand(terminal))
    .addCommand(soulCommand(terminal))
    .addCommand(cardCommand(terminal))
    .addCommand(levelCommand(terminal))
    .addCommand(ghostCommand(terminal))
    .addCommand(replaysCommand(terminal))
    .addCommand(trialCommand(terminal))
    .addCommand(chainCommand(terminal))
    .addCommand(auditCommand(terminal))
    .addCommand(checkpointCommand(terminal))
    .addCommand(bundleCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .addCommand(rebuildCommand(terminal))
    .addCommand(reembedCommand(terminal))
    .addHelpText(
      'after',
      '\nCommands that ask a server use the address in ANIMA_URL (default: http://127.0.0.1:8080) and the key in ANIMA_API_KEY,\n' +
        'or else the key in the file owner-key of the data directory (ANIMA_DATA_DIR, default: .anima).\n' +
        'Exit code: 0 done, 1 failed, 2 wrong usage; of "replay", "trial", and "ghost run", "results", "replay" and "compare", 1 is no pass, and 3 that nothing was judged.',
    );
  return confined(anima, terminal);
};

/** Keeps a command and its subcommands from ending the process or writing outside the terminal. Commander does not apply this to subcommands by itself. */
const confined = (command: Command, terminal: Terminal): Command => {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => terminal.stderr.write(text),
  });
  for (const below of command.commands) confined(below, terminal);
  return command;
};

/** Whether the words ask for JSON, even if the command itself did not run. */
const wantsJson = (words: readonly string[]): boolean => words.includes('--json');

const reportFailure = (terminal: Terminal, words: readonly string[], error: unknown): void => {
  const expected = error instanceof CommandFailed || error instanceof StartProblem;
  const sentence = error instanceof Error ? error.message : String(error);
  const message = expected ? sentence : `Something went wrong: ${sentence}`;
  if (wantsJson(words)) remark(terminal, JSON.stringify({ error: { message } }));
  else for (const line of message.split('\n')) remark(terminal, line);
};

/**
 * Runs one command to its end.
 * @param words what was typed after `anima`
 * @returns the exit code; every failure has been shown as a sentence, never as a stack trace
 */
export const runCli = async (words: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await program(terminal).parseAsync([...words], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    // Commander has already printed its sentence; `--help` also ends here.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const isNotJudged = error instanceof NotJudged;
    reportFailure(terminal, words, isNotJudged ? error.cause : error);
    return isNotJudged ? exitCodes.notJudged : exitCodes.failed;
  }
};
