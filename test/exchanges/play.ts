import { isUtf8 } from 'node:buffer';
import { fileURLToPath } from 'node:url';

import { type Connection, openConnection } from './connection.js';
import { bytesOf, linesOf } from './notation.js';
import { openExchangeServer, type StoreFault } from './server.js';

/** The folder of the recorded exchanges; the README there explains how to read them. */
export const EXCHANGES = fileURLToPath(new URL('../fixtures/exchanges', import.meta.url));

/** How long a block of an exchange may take, in milliseconds. */
const BLOCK_MS = 10_000;
/** A JSON text longer than this is shown member by member. */
const LINE_CHARS = 240;

type Server = Awaited<ReturnType<typeof openExchangeServer>>;
type Stage = {
  readonly server: Server;
  readonly connections: Map<string, Connection>;
  /** The connection for writing and reading. */
  current: string;
};

const currentOf = async ({ server, connections, current }: Stage): Promise<Connection> => {
  const open = connections.get(current) ?? (await openConnection(server.port));
  connections.set(current, open);
  return open;
};

const refuseUnread = (unread: Buffer, name: string): void => {
  if (unread.length > 0) throw new Error(`Connection ${name} had more to read:\n${linesOf(unread).join('\n')}`);
};

/** What an exchange does in addition to sending and reading. test/fixtures/exchanges/README.md explains each directive. */
const directives: Readonly<Record<string, (stage: Stage, ...words: string[]) => unknown>> = {
  connection: (stage, name = '') => (stage.current = name),
  closed: async (stage) => {
    refuseUnread(await (await currentOf(stage)).rest(), stage.current);
    stage.connections.delete(stage.current);
  },
  leave: async (stage) => {
    await (await currentOf(stage)).leave();
    stage.connections.delete(stage.current);
  },
  ready: ({ server }) => server.ready(),
  stop: ({ server }) => void server.stop(),
  wait: ({ server }, seconds) => server.wait(Number(seconds) * 1_000),
  store: ({ server: { store } }, how, _after, reads) => {
    if (how === 'works') store.mend();
    else store.spoil(how as StoreFault, Number(reads));
  },
  caught: ({ server }) => server.store.caught(),
};

const perform = (stage: Stage, line: string): unknown => {
  const [name = '', ...words] = line.split(' ');
  const directive = directives[name];
  if (directive === undefined) throw new Error(`No directive is called ${name}.`);
  return directive(stage, ...words);
};

/** The only thing on the wire that cannot be injected: Node writes the time of the system into `Date`. */
const withoutDate = (head: string): string =>
  head.replace(/^Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r$/m, 'Date: (now)\r');

/** A long JSON body with one member per line; null if that would not show every byte. */
const jsonLines = (head: string, body: Buffer): readonly string[] | null => {
  const text = body.toString();
  const isLong = text.length > LINE_CHARS;
  if (!isLong || !isUtf8(body) || !/^content-type: application\/json/im.test(head)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2).split('\n') : null;
  } catch {
    return null;
  }
};

const show = (mark: string, answer: Buffer): readonly string[] => {
  const bodyAt = answer.toString('latin1').startsWith('HTTP/') ? answer.indexOf('\r\n\r\n') + 4 : 0;
  const head = withoutDate(answer.toString('latin1', 0, bodyAt));
  const body = answer.subarray(bodyAt);
  const json = jsonLines(head, body);
  if (json === null)
    return linesOf(Buffer.concat([Buffer.from(head, 'latin1'), body])).map((line) => `${mark} ${line}`);
  return [...linesOf(Buffer.from(head)).map((line) => `${mark} ${line}`), ...json.map((line) => `${mark}: ${line}`)];
};

type Block = { readonly mark: string; readonly lines: string[] };

const markOf = (line: string): string => /^(?:<~|[<>@=])(?=[ :]|$)/.exec(line)?.[0] ?? '';

/** Adjacent lines with the same mark are one block. Each directive, and each line without a mark, is its own block. */
const blocksOf = (text: string): readonly Block[] => {
  const blocks: Block[] = [];
  for (const line of text.split('\n')) {
    const mark = markOf(line);
    const last = blocks.at(-1);
    if (last?.mark === mark && mark !== '' && mark !== '@') last.lines.push(line);
    else blocks.push({ mark, lines: [line] });
  }
  return blocks;
};

/** A block after it was played: the same, except for the bytes that were read. */
const playBlock = async (stage: Stage, { mark, lines }: Block): Promise<readonly string[]> => {
  const contents = lines.map((line) => line.slice(mark.length + 1));
  switch (mark) {
    case '@':
      await perform(stage, contents[0] ?? '');
      return lines;
    case '>':
      (await currentOf(stage)).send(bytesOf(contents));
      return lines;
    case '<':
    case '<~': {
      const connection = await currentOf(stage);
      const answer = await (mark === '<' ? connection.answer() : connection.piece());
      if (answer.length === 0)
        throw new Error(`Connection ${stage.current} was closed, and there was nothing to read.`);
      return show(mark, answer);
    }
    case '=':
      return [];
    default:
      return lines;
  }
};

/** @throws Error with the name of the block when it takes longer than BLOCK_MS */
const playInTime = async (stage: Stage, block: Block): Promise<readonly string[]> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`Nothing came of this on connection ${stage.current}:\n${block.lines.join('\n')}`));
    }, BLOCK_MS);
  });
  return Promise.race([playBlock(stage, block), late]).finally(() => clearTimeout(timer));
};

/** Whether an exchange already contains responses. */
export const isRecorded = (text: string): boolean => /^(<~?|=)[ :]/m.test(text);

/**
 * Plays a file of exchanges against a fresh server, and writes it again with the responses.
 * @throws Error when the server sent something that the exchange does not read, or nothing where it reads
 */
export const play = async (text: string): Promise<string> => {
  await using server = await openExchangeServer();
  if (!/^@ ready$/m.test(text)) server.ready();
  const connections = new Map<string, Connection>();
  const stage: Stage = { server, connections, current: 'a' };
  const played: string[] = [];
  try {
    for (const block of blocksOf(text)) played.push(...(await playInTime(stage, block)));
    for (const [name, connection] of connections) refuseUnread(await connection.leave(), name);
  } finally {
    for (const connection of connections.values()) connection[Symbol.dispose]();
  }
  server.store.mend();
  await server.stop();
  const notes = server.notes().map((note) => `= ${note}\n`);
  return `${played.join('\n').trimEnd()}\n\n${notes.join('')}`;
};
