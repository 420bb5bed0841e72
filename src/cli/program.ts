import { Command, CommanderError } from 'commander';

import { StartProblem } from '../kernel/base/start-problem.js';
import { DEFAULT_DATA_DIR, DEFAULT_URL } from '../config/config.js';
import { apiVersion } from '../kernel/http/api-version.js';
import { activityCommand } from '../features/search/cli/activity.js';
import { auditCommand } from '../features/proofs/cli/audit.js';
import { checkpointCommand } from '../features/proofs/cli/checkpoint.js';
import { logCommand } from '../features/proofs/cli/log.js';
import { bundleCommand } from '../features/proofs/cli/bundle.js';
import { cardCommand } from '../features/cards/cli/card.js';
import { chainCommand } from '../features/npcs/cli/chain.js';
import { changesCommand } from '../features/npcs/cli/changes.js';
import { coverageCommand } from '../features/replays/cli/coverage.js';
import { demoCommand } from './demo.js';
import { ghostCommand } from '../features/ghosts/cli/ghost.js';
import { historyCommand } from '../features/npcs/cli/history.js';
import { KeyNotChecked, NotJudged } from './shared/judging.js';
import { accessCommand } from '../features/keys/cli/access.js';
import { keysCommand } from '../features/keys/cli/keys.js';
import { rulesCommand } from '../features/rules/cli/rules.js';
import { levelCommand } from '../features/levels/cli/level.js';
import { lineageCommand } from '../features/memory/cli/lineage.js';
import { memoriesCommand } from '../features/memory/cli/memories.js';
import { rebuildCommand, reembedCommand } from './rebuild.js';
import { replaysCommand, trialCommand } from '../features/replays/cli/replay.js';
import { retractCommand } from '../features/memory/cli/retract.js';
import { retractionsCommand } from '../features/memory/cli/retractions.js';
import { searchCommand } from '../features/search/cli/search.js';
import { serveCommand } from './serve.js';
import { soulCommand } from '../features/souls/cli/soul.js';
import { examples } from './shared/options.js';
import { CommandFailed, remark, table, type Terminal, WrongUsage } from './shared/terminal.js';
import { engineCommand } from '../features/agents/cli/engine.js';
import { promptCommand } from '../features/agents/cli/prompt.js';
import { talkCommand } from '../features/agents/cli/talk.js';
import { rulesRecordCommand } from '../features/turns/cli/rules-record.js';
import { rulesTestCommand } from '../features/turns/cli/rules-test.js';
import { playerTokenCommand } from '../features/keys/cli/player-token.js';
import { signingKeysCommand } from '../features/keys/cli/signing-keys.js';
import { playersCommand } from '../features/turns/cli/players.js';
import { turnsCommand } from '../features/turns/cli/turns.js';
import { verifyCommand } from '../features/proofs/cli/verify.js';
import { whyCommand } from '../features/turns/cli/why.js';

/** The exit codes of every command. */
export const exitCodes = { done: 0, failed: 1, usage: 2, notJudged: 3, keyNotChecked: 4 } as const;

/** The code behind these is loaded on demand: most commands only need an HTTP client. */
const ownerKeys: Parameters<typeof keysCommand>[1] = {
  bootstrapDistributed: async (terminal) => (await import('./offline.js')).bootstrapDistributed(terminal),
  recoverOwner: async (terminal, tenantId) => (await import('./offline.js')).recoverOwner(terminal, tenantId),
};

/** The exit codes in words. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitCodes.done, 'success'],
  [exitCodes.failed, 'failure, or a failed check'],
  [exitCodes.usage, 'wrong usage'],
  [
    exitCodes.notJudged,
    'not judged: nothing could be checked, for example because no server answered, or a file, NPC or level does not exist, or a replay could not make a decision again',
  ],
  [exitCodes.keyNotChecked, 'a bundle is intact, but whose key signed it was not checked'],
];
/** Which commands use exit code 3. */
export const exitCodeNote =
  'Only rules test, replay, trial, ghost run, ghost results, ghost replay, ghost compare and audit exit with 3; other commands exit with 1 instead. Only verify exits with 4.';

/** The environment variables that commands read. The server reads many more. */
export const commandVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['ANIMA_URL', `address of the server (default: ${DEFAULT_URL})`],
  ['ANIMA_API_KEY', "API key (default: the owner key in the server's data directory)"],
  ['ANIMA_DATA_DIR', `data directory of the server (default: ${DEFAULT_DATA_DIR})`],
];

const HELP_COMMAND = 'help [command]';
const HELP_TEXT = 'show help for a command';

const section = (title: string, rows: readonly (readonly [name: string | number, meaning: string])[]): string =>
  [title, ...table(rows.map(([name, meaning]) => [`  ${String(name)}`, meaning]))].join('\n');

/** The `anima` program. Building it reads and runs nothing. */
export const buildProgram = (terminal: Terminal): Command => {
  const anima = new Command('anima')
    .description('The mind of game NPCs, as a service: every thought an event, every decision replayable')
    .version(apiVersion, '-V, --version', 'print the version')
    // A command may have an option of the same name, such as the version of a card.
    .enablePositionalOptions()
    .commandsGroup('Server:')
    .addCommand(serveCommand(terminal))
    .addCommand(demoCommand(terminal))
    .addCommand(rebuildCommand(terminal))
    .addCommand(reembedCommand(terminal))
    .addCommand(engineCommand(terminal))
    .commandsGroup('Keys:')
    .addCommand(keysCommand(terminal, ownerKeys))
    .addCommand(playerTokenCommand(terminal))
    .addCommand(signingKeysCommand(terminal))
    .addCommand(accessCommand(terminal))
    .commandsGroup('NPCs and turns:')
    .addCommand(talkCommand(terminal))
    .addCommand(turnsCommand(terminal))
    .addCommand(playersCommand(terminal))
    .addCommand(whyCommand(terminal))
    .addCommand(promptCommand(terminal))
    .addCommand(historyCommand(terminal))
    .addCommand(changesCommand(terminal))
    .addCommand(searchCommand(terminal))
    .addCommand(activityCommand(terminal))
    .commandsGroup('Memory:')
    .addCommand(memoriesCommand(terminal))
    .addCommand(lineageCommand(terminal))
    .addCommand(retractCommand(terminal))
    .addCommand(retractionsCommand(terminal))
    .commandsGroup('Rules:')
    .addCommand(rulesCommand(terminal, [rulesTestCommand(terminal), rulesRecordCommand(terminal)]))
    .addCommand(trialCommand(terminal))
    .addCommand(replaysCommand(terminal))
    .addCommand(coverageCommand(terminal))
    .commandsGroup('Souls and cards:')
    .addCommand(soulCommand(terminal))
    .addCommand(cardCommand(terminal))
    .commandsGroup('Ghosts:')
    .addCommand(ghostCommand(terminal))
    .addCommand(levelCommand(terminal))
    .commandsGroup('Proofs:')
    .addCommand(chainCommand(terminal))
    .addCommand(auditCommand(terminal))
    .addCommand(checkpointCommand(terminal))
    .addCommand(logCommand(terminal))
    .addCommand(bundleCommand(terminal))
    .addCommand(verifyCommand(terminal))
    .commandsGroup('Help:')
    .helpCommand(HELP_COMMAND, HELP_TEXT)
    .addHelpText(
      'after',
      [
        '',
        section('Environment variables:', commandVariables),
        '',
        section('Exit codes:', exitCodeMeanings),
        `  ${exitCodeNote}`,
        examples('serve', 'talk mira', 'why mira', 'ghost run --level cellar --follow'),
      ].join('\n'),
    );
  return confined(anima, terminal);
};

/**
 * Keeps a command and its subcommands from ending the process or writing outside the terminal, and words their help. Commander does not pass this on
 * to subcommands.
 */
const confined = (command: Command, terminal: Terminal): Command => {
  command
    .helpOption('-h, --help', 'show help for this command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });
  if (command.parent !== null && command.commands.length > 0) command.helpCommand(HELP_COMMAND, HELP_TEXT);
  for (const below of command.commands) confined(below, terminal);
  return command;
};

const wantsJson = (words: readonly string[]): boolean => words.includes('--json');

const reportFailure = (terminal: Terminal, words: readonly string[], error: unknown): void => {
  const expected = error instanceof CommandFailed || error instanceof StartProblem;
  const text = error instanceof Error ? error.message : String(error);
  const message = expected ? text : `Unexpected error: ${text}`;
  if (wantsJson(words)) remark(terminal, JSON.stringify({ error: { message } }));
  else for (const line of message.split('\n')) remark(terminal, line);
};

/**
 * Runs one command.
 * @param words the arguments of `anima`
 * @returns the exit code; a failure has been printed as a message, never as a stack trace
 */
export const runCli = async (words: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await buildProgram(terminal).parseAsync([...words], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    // Commander has already printed its message; `--help` also ends here.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    const isNotJudged = error instanceof NotJudged;
    reportFailure(terminal, words, isNotJudged ? error.cause : error);
    if (isNotJudged) return exitCodes.notJudged;
    if (error instanceof KeyNotChecked) return exitCodes.keyNotChecked;
    return error instanceof WrongUsage ? exitCodes.usage : exitCodes.failed;
  }
};
