import { EventStoreDb, type EventStoreDbOptions } from '../../src/adapters/eventstore/event-store.js';
import { openProcesses } from '../../projections/open-processes.js';
import { rowsOf } from '../projections/fold.js';
import { type Child, startTypeScript } from './child.js';
import { temporaryDirectory } from './temporary-directory.js';

const MAIN = new URL('../stand-in/main.ts', import.meta.url);
/** More than any test writes. */
const EVENTS = 100_000;

/** An event store on its server, whose open processes are folded from all of its events. */
export const openEventStore = (options: Omit<EventStoreDbOptions, 'listOpen'>): EventStoreDb => {
  const store: EventStoreDb = new EventStoreDb({
    ...options,
    listOpen: async () => [...rowsOf(openProcesses, await store.readAll(0, EVENTS)).values()],
  });
  return store;
};

type Directory = Awaited<ReturnType<typeof temporaryDirectory>>;

/** A stand-in for EventStoreDB that a test may kill and start again on the same port and data. */
export class KillableEventStore implements AsyncDisposable {
  readonly #directory: Directory;
  #child: Child;
  #port: number;

  private constructor(directory: Directory, child: Child, port: number) {
    this.#directory = directory;
    this.#child = child;
    this.#port = port;
  }

  static async start(): Promise<KillableEventStore> {
    const directory = await temporaryDirectory();
    const child = startOn(0, directory.path);
    return new KillableEventStore(directory, child, await portOf(child));
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return urlOf(this.#port);
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#child.kill();
  }

  /** Stops it as it stands: connections stay, nothing is answered. */
  freeze(): void {
    this.#child.signal('SIGSTOP');
  }

  thaw(): void {
    this.#child.signal('SIGCONT');
  }

  /** Starts it again where it was. */
  async restart(): Promise<void> {
    this.#child = startOn(this.#port, this.#directory.path);
    this.#port = await portOf(this.#child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child.kill();
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** The connection string of a server on this machine. */
export const urlOf = (port: number): string => `esdb://127.0.0.1:${port}?tls=false`;

const startOn = (port: number, data: string): Child =>
  startTypeScript(MAIN, { args: ['--port', String(port), '--data', data] });

const portOf = async (child: Child): Promise<number> =>
  Number(/:(\d+)$/.exec(await child.waitForLine(/^listening on /))?.[1]);

/** The server that `EVENTSTORE_URL` names, else a stand-in of its own. */
export const eventStoreServer = async (): Promise<{ readonly url: string } & AsyncDisposable> => {
  const url = process.env['EVENTSTORE_URL'];
  if (url === undefined || url === '') return KillableEventStore.start();
  return { url, [Symbol.asyncDispose]: () => Promise.resolve() };
};
