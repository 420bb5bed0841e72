import { createInterface } from 'node:readline';

import { Command } from 'commander';

import { sleepFor } from '../../../body/deadline.js';
import type { MindRequest } from '../../../body/mind-request.js';
import { openClient } from '../../../cli/shared/client.js';
import { listPages } from '../../../cli/shared/list-pages.js';
import { CommandFailed, isRead, print, printJson, remark, type Terminal } from '../../../cli/shared/terminal.js';
import { showWhy } from '../../../cli/shared/show-why.js';

/** How many memories `/memories` shows, the newest last. */
const MEMORIES = 20;
/** How many are read for that, with some 20 requests; the list begins with the oldest. */
const READ = 20_000;

/** How often a line from a file is said, and how long the server's patience is waited for in between at most, in seconds. */
const TRIES = 3;
const MAX_WAIT_SECONDS = 120;

/** After these no other line can be said either. */
const HOPELESS: ReadonlySet<string> = new Set(['UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN']);

const HELP = '/why: why it answered so · /memories: what it remembers · /quit: end (or Ctrl-D)';

type Spoken = {
  readonly turnId: string;
  readonly dialogue: string;
  readonly action: { readonly type: string; readonly target?: string };
};
type Memory = { readonly text: string; readonly type: string };

/** What the NPC does besides speaking; nothing for plain words. */
const deedOf = ({ type, target = '' }: Spoken['action']): string =>
  type === 'SPEAK' ? '' : `[${type}${target === '' ? '' : ` -> ${target}`}] `;

/** `turnId`: that of the last answer; null before it and after a refusal, which names none. */
type Talk = {
  turnId: string | null;
  readonly terminal: Terminal;
  readonly request: MindRequest;
  readonly npcId: string;
  readonly json: boolean;
};

const say = async (talk: Talk, input: string): Promise<void> => {
  const { terminal, request, npcId, json } = talk;
  talk.turnId = null;
  const path = `/v1/agents/${encodeURIComponent(npcId)}/process`;
  const answer = (await request('POST', path, { input })) as Spoken;
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
  if (isCut) remark(terminal, `Only the first ${String(READ)} memories were read.`);
  if (newest.length === 0) remark(terminal, `${npcId} remembers nothing yet.`);
  for (const memory of newest) {
    if (json) printJson(terminal, memory);
    else print(terminal, `  ${memory.type}: ${memory.text}`);
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

/** Does what a line says. A line that nobody types again is said again when the server asks for patience. @throws CommandFailed */
const obeyPatiently = async (talk: Talk, line: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await obey(talk, line);
      return;
    } catch (error) {
      const waits = error instanceof CommandFailed ? error.retryAfter : null;
      if (talk.terminal.stdin.isTTY === true || waits === null || tries >= TRIES) throw error;
      const seconds = Math.min(waits, MAX_WAIT_SECONDS);
      remark(talk.terminal, `${(error as CommandFailed).message} The line is said again in ${String(seconds)} s.`);
      await sleepFor(seconds * 1_000);
    }
  }
};

/**
 * Reads lines until the end of the input. A refusal is told, and the talk goes on.
 * @throws CommandFailed when no server answers a talk that is not typed, or refuses its key; also when none of its lines was answered
 */
const talkTo = async (terminal: Terminal, npcId: string, json: boolean): Promise<void> => {
  const talk: Talk = { turnId: null, terminal, request: await openClient(terminal), npcId, json };
  const { stdin, stderr } = terminal;
  const lines = createInterface({ input: stdin, output: stderr, terminal: stdin.isTTY === true, prompt: '> ' });
  // Input from a file or a pipe is over long before its last line is answered, and then there is nothing to prompt for.
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  const prompt = () => {
    if (!isOver) lines.prompt();
  };
  remark(terminal, `You talk to ${npcId}. ${HELP}`);
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
      // A person may start the server and say it again; from a file the rest would be lost line by line.
      if (stdin.isTTY !== true && HOPELESS.has(error.code ?? '')) throw error;
      failed += 1;
      remark(terminal, error.message);
      // An answer for each line.
      if (json) printJson(terminal, { error: { code: error.code, message: error.message } });
    }
    prompt();
  }
  lines.close();
  // Who types has seen it; a script sees only the exit code.
  if (stdin.isTTY !== true && failed > 0 && said === 0) throw new CommandFailed('No line was answered.');
};

/** `anima talk <npcId>`: says what the user types to the NPC, and prints its answers. The server plays the turns. */
export const talkCommand = (terminal: Terminal): Command =>
  new Command('talk')
    .description('talk to an NPC: what you type is said to it, and the server answers in its place')
    .argument('<npcId>')
    .option('--json', 'print each answer as a line of JSON')
    .action((npcId: string, { json = false }: { readonly json?: boolean }) => talkTo(terminal, npcId, json));
