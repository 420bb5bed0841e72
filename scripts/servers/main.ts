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

  install [name ...]   download and build missing servers without starting them
  start [name ...]     install missing servers, start them, wait until they respond, write .servers/env
    --guarded          require authentication on new servers (Kafka: TLS with a password)
    --foreign <n>      fill a new event store with <n> events of other programs
  status [name ...]    show which servers are running, and where
  stop [name ...]      stop gracefully; data and ports are kept
  kill <name ...>      kill -9
  restart <name ...>   stop and start on the same data and ports
  reset                stop all servers and delete their data; downloads are kept

Names: ${names} (default: all)

Environment variables:
  ANIMA_SERVERS_DIR    directory for data, logs and env (default: .servers in this repository)
  ANIMA_SERVERS_CACHE  directory for downloads (default: a cache directory of the user)
  EVENTSTORE_URL       event store to use instead of starting one`;

const NEEDS_NAMES: readonly Command[] = ['kill', 'restart'];

const isCommand = (word: string | undefined): word is Command => word !== undefined && Object.hasOwn(commands, word);
const isName = (word: string): word is ServerName => (SERVER_NAMES as readonly string[]).includes(word);

const dataDirectory = (): string => {
  const given = process.env['ANIMA_SERVERS_DIR'];
  return given === undefined || given === ''
    ? fileURLToPath(new URL('../../.servers', import.meta.url))
    : resolve(given);
};

/** Parses the command line. @throws Error with what is wrong */
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
  if (!isCommand(command))
    throw new Error(command === undefined ? 'A command is missing.' : `Unknown command "${command}".`);
  const wrong = words.find((word) => !isName(word));
  if (wrong !== undefined) throw new Error(`Unknown server "${wrong}". The servers are ${names}.`);
  if (NEEDS_NAMES.includes(command) && words.length === 0)
    throw new Error(`"${command}" needs a server name: ${names}.`);
  const chosen = words.length === 0 ? SERVER_NAMES : [...new Set(words.filter(isName))];
  const guarded = values.guarded === true;
  if (guarded && command !== 'start') throw new Error('Only "start" accepts --guarded.');
  if (!/^\d{1,8}$/.test(values.foreign))
    throw new Error(`--foreign must be a number of events, not "${values.foreign}".`);
  const foreign = Number(values.foreign);
  if (foreign > 0 && (command !== 'start' || !chosen.includes('eventstore')))
    throw new Error('--foreign needs "start" and the event store.');
  if (command === 'reset' && words.length > 0) throw new Error('"reset" accepts no server names.');
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
    console.error('These servers run natively only on Linux. On other systems, use "docker compose".');
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
  const onWait = () => console.log(`Another command is using ${directory}. Waiting for it to finish ...`);
  // "status" changes nothing, and is most useful while another command takes long.
  const done = command === 'status' ? await act() : await inTurn(directory, onWait, act);
  return done ? 0 : 1;
};

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  return 1;
});
