import { createInterface } from 'node:readline';

import { Command } from 'commander';

import { sleepFor } from '../../../body/deadline.js';
import { defined } from '../../../kernel/base/defined.js';
import type { MindRequest } from '../../../body/mind-request.js';
import { openClient } from '../../../cli/shared/client.js';
import { listPages } from '../../../cli/shared/list-pages.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { CommandFailed, isRead, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { showWhy } from '../../../cli/shared/show-why.js';

/** How many memories `/memories` shows, the newest last. */
const MEMORIES = 20;
/** How many memories are read to find the newest, in about 20 requests: the list begins with the oldest. */
const READ = 20_000;

/** How often a line from a file is sent, and the longest wait between two attempts, in seconds. */
const TRIES = 3;
const MAX_WAIT_SECONDS = 120;

/** After these errors, every other line would fail too. */
const HOPELESS: ReadonlySet<string> = new Set(['UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN']);

/** A key that may talk, such as a token of a player, need not be allowed to ask why. */
const isHopeless = ({ code }: CommandFailed, line: string): boolean =>
  HOPELESS.has(code ?? '') && !(code === 'FORBIDDEN' && line.startsWith('/'));

const stillOpen = (npcId: string): string =>
  `The turn stays open and continues when the model is back. Repeat the line then, or read "npx anima turns ${npcId}".`;

const HELP =
  '/why: explain the last answer · /memories: list recent memories · /quit: end the conversation (or Ctrl+D)';

const IN_TALK = `
During the conversation, type:
  /why       to see why the NPC gave its last answer
  /memories  to list its ${String(MEMORIES)} newest memories
  /quit      to end the conversation (or press Ctrl+D)`;

type Spoken = {
  readonly turnId: string;
  readonly dialogue: string;
  readonly action: { readonly type: string; readonly target?: string };
};
type Memory = { readonly memoryId: string; readonly text: string; readonly type: string };

/** The NPC's action, unless it only speaks. */
const deedOf = ({ type, target = '' }: Spoken['action']): string =>
  type === 'SPEAK' ? '' : `[${type}${target === '' ? '' : ` -> ${target}`}] `;

/** `turnId`: the turn of the last answer; null before the first one and after a failure. */
type Talk = {
  turnId: string | null;
  readonly terminal: Terminal;
  readonly request: MindRequest;
  readonly npcId: string;
  readonly json: boolean;
  /** Who speaks. */
  readonly player: string | undefined;
};

const say = async (talk: Talk, input: string): Promise<void> => {
  const { terminal, request, npcId, json, player } = talk;
  talk.turnId = null;
  const path = `/v1/agents/${encodeURIComponent(npcId)}/process`;
  const answer = (await request('POST', path, { input, ...defined({ player }) })) as Spoken;
  talk.turnId = answer.turnId;
  if (json) printJson(terminal, answer);
  else print(terminal, `${npcId}: ${deedOf(answer.action)}${answer.dialogue}`.trimEnd());
};

const showMemories = async ({ terminal, request, npcId, json }: Talk): Promise<void> => {
  let newest: readonly Memory[] = [];
  let isCut = false;
  for await (const { items, hasMore } of listPages(
    request,
    { path: `/npcs/${encodeURIComponent(npcId)}/memory`, query: {} },
    READ,
  )) {
    newest = [...newest, ...(items as readonly Memory[])].slice(-MEMORIES);
    isCut = hasMore;
  }
  if (isCut)
    remark(
      terminal,
      `${npcId} has more than ${String(READ)} memories. These are the newest of the first ${String(READ)}.`,
    );
  if (newest.length === 0) remark(terminal, `${npcId} has no memories yet.`);
  for (const memory of newest) {
    if (json) printJson(terminal, memory);
    else print(terminal, `  ${memory.memoryId}  ${memory.type}: ${memory.text}`);
  }
};

const obey = (talk: Talk, line: string): Promise<void> => {
  switch (line) {
    case '/why':
      return showWhy(talk.terminal, talk.request, { ...talk, turnId: talk.turnId ?? undefined });
    case '/memories':
      return showMemories(talk);
    default:
      if (!line.startsWith('/')) return say(talk, line);
      remark(talk.terminal, HELP);
      return Promise.resolve();
  }
};

/** Obeys a line. Unless it was typed at a terminal, it is retried when the server asks for a retry. @throws CommandFailed */
const obeyPatiently = async (talk: Talk, line: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await obey(talk, line);
      return;
    } catch (error) {
      const waits = error instanceof CommandFailed ? error.retryAfter : null;
      if (talk.terminal.stdin.isTTY === true || waits === null || tries >= TRIES) throw error;
      const seconds = Math.min(waits, MAX_WAIT_SECONDS);
      remark(talk.terminal, (error as CommandFailed).message);
      remark(talk.terminal, `Retrying this line in ${String(seconds)} s ...`);
      await sleepFor(seconds * 1_000);
    }
  }
};

/**
 * Reads lines until the end of the input. A failure is printed, and the conversation continues.
 * @throws CommandFailed for input that is not typed at a terminal: when no server answers, the key is refused, or no line was answered
 */
const talkTo = async (terminal: Terminal, talking: Pick<Talk, 'npcId' | 'json' | 'player'>): Promise<void> => {
  const { npcId, json } = talking;
  const talk: Talk = { turnId: null, terminal, request: await openClient(terminal), ...talking };
  const { stdin, stderr } = terminal;
  const lines = createInterface({ input: stdin, output: stderr, terminal: stdin.isTTY === true, prompt: '> ' });
  // Input from a file or a pipe ends long before its last line is answered. Nothing is left to prompt for then.
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  const prompt = () => {
    if (!isOver) lines.prompt();
  };
  remark(terminal, `You are talking to ${npcId}. ${HELP}`);
  let said = 0;
  let failed = 0;
  prompt();
  for await (const typed of lines) {
    const line = typed.trim();
    if (line === '/quit' || !isRead(terminal)) break;
    try {
      if (line !== '') await obeyPatiently(talk, line);
      said += line === '' ? 0 : 1;
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      // A person can start the server and repeat the line. A file would lose its other lines one by one.
      if (stdin.isTTY !== true && isHopeless(error, line)) throw error;
      failed += 1;
      for (const part of error.message.split('\n')) remark(terminal, part);
      if (error.code === 'CORTEX_UNAVAILABLE') remark(terminal, stillOpen(npcId));
      // One line of JSON for each line of input.
      if (json) printJson(terminal, { error: { code: error.code, message: error.message } });
    }
    prompt();
  }
  lines.close();
  // A person has seen the failures. A script sees only the exit code.
  if (stdin.isTTY !== true && failed > 0 && said === 0) throw new CommandFailed('The NPC answered none of the lines.');
};

/** `anima talk <npcId>`: says what the user types to the NPC, and prints its answers. The server plays the turns. */
export const talkCommand = (terminal: Terminal): Command =>
  new Command('talk')
    .description('talk to an NPC; the server generates its answers')
    .addArgument(npcIdArgument())
    .option('--player <id>', 'the player who speaks: what one player tells is kept from the others')
    .addOption(jsonOption('answer'))
    .action((npcId: string, { json = false, player }: { readonly json?: boolean; readonly player?: string }) =>
      talkTo(terminal, { npcId, json, player }),
    )
    .addHelpText(
      'after',
      `${IN_TALK}\n${examples('talk mira', 'talk mira --player ann', 'talk mira --json < lines.txt')}`,
    );
