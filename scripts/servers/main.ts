// Starts, kills and stops the real servers of the distributed profile without Docker.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { cacheDirectory } from './cache.js';
import { commands } from './commands.js';
import { inTurn } from './lock.js';
import { SERVER_NAMES, type ServerName } from './server.js';
import { Supervisor } from './supervisor.js';

type Command = keyof typeof commands;

const names = SERVER_NAMES.join(' | ');
const usage = `npm run servers -- <command> [name ...]

  install [name ...]   downloads and builds what is missing, starts nothing
  start [name ...]     installs what is missing, starts, waits until each answers, writes .servers/env
    --guarded          what is new asks its clients who they are: Kafka, by TLS with a password
    --foreign <number> a new event store begins with so many events of other programs
  status [name ...]    says what runs, and where
  stop [name ...]      ends in good order; data and ports are kept
  kill <name ...>      kill -9
  restart <name ...>   stops what runs, starts it again on the same data and port
  reset                stops all and removes the data; downloads are kept

Names: ${names}; without names all of them.
ANIMA_SERVERS_DIR: where data, logs and env are kept instead of in .servers of this repository.
ANIMA_SERVERS_CACHE: where downloads are kept, instead of in a directory of the user.
EVENTSTORE_URL: an event store that runs already; it is used as it is.`;

const NEEDS_NAMES: readonly Command[] = ['kill', 'restart'];

const isCommand = (word: string | undefined): word is Command => word !== undefined && Object.hasOwn(commands, word);
const isName = (word: string): word is ServerName => (SERVER_NAMES as readonly string[]).includes(word);

const dataDirectory = (): string => {
  const given = process.env['ANIMA_SERVERS_DIR'];
  return given === undefined || given === ''
    ? fileURLToPath(new URL('../../.servers', import.meta.url))
    : resolve(given);
};

/** Reads the command line. @throws Error that says what is wrong with it. */
const read = (args: string[]) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      guarded: { type: 'boolean' },
      foreign: { type: 'string', default: '0' },
    },
  });
  const [command, ...words] = positionals;
  if (values.help === true) return { help: true } as const;
  if (!isCommand(command)) throw new Error(`"${command ?? ''}" is not a command`);
  const wrong = words.find((word) => !isName(word));
  if (wrong !== undefined) throw new Error(`"${wrong}" is not one of ${names}`);
  if (NEEDS_NAMES.includes(command) && words.length === 0) throw new Error(`${command} needs a name: ${names}`);
  const chosen = words.length === 0 ? SERVER_NAMES : [...new Set(words.filter(isName))];
  const guarded = values.guarded === true;
  if (guarded && command !== 'start') throw new Error('--guarded belongs to start');
  if (!/^\d{1,8}$/.test(values.foreign)) throw new Error(`--foreign takes a number of events, not "${values.foreign}"`);
  const foreign = Number(values.foreign);
  if (foreign > 0 && (command !== 'start' || !chosen.includes('eventstore')))
    throw new Error('--foreign belongs to start, where the event store is started');
  if (command === 'reset' && words.length > 0) throw new Error('reset takes no name');
  return { help: false, command, first: { guarded, foreign }, names: chosen, named: words.length > 0 } as const;
};

const main = async (): Promise<number> => {
  let request: ReturnType<typeof read>;
  try {
    request = read(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (request.help) {
    console.log(usage);
    return 0;
  }
  if (process.platform !== 'linux') {
    console.error('The servers start natively only on Linux; elsewhere use "docker compose".');
    return 1;
  }
  const { command } = request;
  const directory = dataDirectory();
  const act = async (): Promise<boolean> =>
    commands[command]({
      supervisor: await Supervisor.open(directory, cacheDirectory()),
      directory,
      names: request.names,
      named: request.named,
      first: request.first,
      eventStoreUrl: process.env['EVENTSTORE_URL'],
      say: (line) => console.log(line),
    });
  const onWait = () => console.log(`Another command is working on ${directory}; waiting for it to end.`);
  // Looking changes nothing, and is most wanted while something takes long.
  const done = command === 'status' ? await act() : await inTurn(directory, onWait, act);
  return done ? 0 : 1;
};

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return 1;
});
