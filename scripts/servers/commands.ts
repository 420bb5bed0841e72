import { checkStoreAt, eventstore } from './eventstore.js';
import { ipfs } from './ipfs.js';
import { kafka } from './kafka.js';
import { postgres } from './postgres.js';
import { type FirstStart, SERVER_NAMES, type Server, type ServerName } from './server.js';
import { environmentFile, hasState } from './state.js';
import type { Supervisor } from './supervisor.js';
import { temporal } from './temporal.js';

const servers: Readonly<Record<ServerName, Server>> = { eventstore, temporal, kafka, postgres, ipfs };

type Act = (name: ServerName) => Promise<string>;

/** How often the current step is reported, in milliseconds: downloads and builds take minutes and print nothing. */
const TELL_EVERY_MS = 15_000;

export type Request = {
  readonly supervisor: Supervisor;
  readonly directory: string;
  readonly names: readonly ServerName[];
  /** Whether the names were given on the command line. */
  readonly named: boolean;
  /** The address of an external event store. */
  readonly eventStoreUrl: string | undefined;
  readonly first: FirstStart;
  readonly say: (line: string) => void;
};

/** Runs an action on all servers at once and reports each outcome; resolves with whether all succeeded. */
const toEach = async ({ names, say }: Request, act: Act): Promise<boolean> => {
  const outcomes = await Promise.all(
    names.map(async (name) => {
      const begin = performance.now();
      try {
        const done = await act(name);
        say(`${name}: ${done} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
        return true;
      } catch (error) {
        say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        return false;
      }
    }),
  );
  return outcomes.every(Boolean);
};

const where = (supervisor: Supervisor, name: ServerName): string =>
  Object.entries(supervisor.entry(name)?.addresses ?? {})
    // Passwords are only in `env`, which only its owner can read.
    .map(([variable, value]) => `${variable}=${value.replace(/:[^:@/]+@/, ':***@')}`)
    .join(' ');

/** The store at EVENTSTORE_URL, unless it is one that this program started and the shell has read from an earlier `env`. */
const givenStore = async ({ eventStoreUrl, supervisor }: Request): Promise<string | undefined> => {
  if (eventStoreUrl === undefined || eventStoreUrl === '') return undefined;
  const { EVENTSTORE_URL: ours } = await supervisor.addresses(eventstore);
  return eventStoreUrl === ours ? undefined : eventStoreUrl;
};

/** @throws Error when foreign events are wanted but the log already exists */
const requireNewLog = ({ supervisor, first }: Request, given: string | undefined): void => {
  if (first.foreign === 0) return;
  if (given !== undefined)
    throw new Error('--foreign works only with the event store that this command starts: unset EVENTSTORE_URL');
  if (supervisor.entry('eventstore') !== undefined)
    throw new Error('--foreign works only with a new event store: run "reset" first');
};

/** Reports each step of a server when it begins, and repeatedly while it runs. */
const telling = async <Result>(
  { say }: Request,
  name: ServerName,
  work: (doing: (step: string) => void) => Promise<Result>,
): Promise<Result> => {
  let step = '';
  let begin = 0;
  const timer = setInterval(
    () => say(`${name}: ${step}, still running (${((performance.now() - begin) / 1000).toFixed(0)} s)`),
    TELL_EVERY_MS,
  );
  try {
    return await work((next) => {
      step = next;
      begin = performance.now();
      say(`${name}: ${step} ...`);
    });
  } finally {
    clearInterval(timer);
  }
};

/** The report for an optional server that failed. @throws the error, when the server is required or was named */
const leftOut = ({ named }: Request, name: ServerName, error: unknown): string => {
  if (servers[name].optional !== true || named) throw error;
  return `SKIPPED; tests that need it will not run: ${error instanceof Error ? error.message : String(error)}`;
};

const start =
  (request: Request): Act =>
  async (name) => {
    const { supervisor } = request;
    const given = name === 'eventstore' ? await givenStore(request) : undefined;
    if (name === 'eventstore') requireNewLog(request, given);
    if (given === undefined) {
      try {
        await telling(request, name, (doing) => supervisor.start(servers[name], doing, request.first));
      } catch (error) {
        return leftOut(request, name, error);
      }
      return `running: ${where(supervisor, name)}`;
    }
    await checkStoreAt(given);
    await supervisor.adopt(name, { EVENTSTORE_URL: given });
    return `external: ${where(supervisor, name)}`;
  };

const install =
  (request: Request): Act =>
  async (name) => {
    try {
      await telling(request, name, (doing) => request.supervisor.install(servers[name], doing));
      return 'installed';
    } catch (error) {
      return leftOut(request, name, error);
    }
  };

const stop =
  (request: Request): Act =>
  async (name) => {
    await request.supervisor.stop(name, servers[name].stopSignal);
    return 'stopped';
  };

const refuseElsewhere = async ({ supervisor }: Request, name: ServerName): Promise<void> => {
  if ((await supervisor.condition(name)) === 'elsewhere') throw new Error('it is external (EVENTSTORE_URL)');
};

/** The commands; each resolves with whether it succeeded. */
export const commands = {
  install: (request: Request) => toEach(request, install(request)),

  start: async (request: Request) => {
    request.say(
      'Missing servers are downloaded and built first. This can take many minutes the first time; the results are cached.',
    );
    const done = await toEach(request, start(request));
    if (done) request.say(`Addresses: ${environmentFile(request.directory)}`);
    return done;
  },

  stop: (request: Request) => toEach(request, stop(request)),

  kill: (request: Request) =>
    toEach(request, async (name) => {
      await refuseElsewhere(request, name);
      await request.supervisor.kill(name);
      return 'killed';
    }),

  restart: (request: Request) =>
    toEach(request, async (name) => {
      await refuseElsewhere(request, name);
      await stop(request)(name);
      return start(request)(name);
    }),

  status: async ({ supervisor, names, say }: Request) => {
    for (const name of names) {
      const pid = supervisor.entry(name)?.process?.pid;
      const process = pid === undefined ? '' : `, process ${pid}`;
      say(`${name}: ${await supervisor.condition(name)}${process} ${where(supervisor, name)}`.trimEnd());
    }
    return true;
  },

  reset: async (request: Request) => {
    const { supervisor, directory, say } = request;
    if (!hasState(directory)) {
      say(`There are no servers in ${directory}.`);
      return true;
    }
    const done = await toEach({ ...request, names: SERVER_NAMES }, async (name) => {
      await supervisor.discard(servers[name]);
      return 'stopped, data deleted';
    });
    if (done) await supervisor.forget();
    return done;
  },
} as const;
