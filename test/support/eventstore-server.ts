import { EventStoreDb, type EventStoreDbOptions } from '../../src/adapters/eventstore/event-store.js';
import { openProcesses } from '../../projections/open-processes.js';
import { rowsOf } from '../projections/fold.js';
import { type StandIn, type StandInOptions, startStandIn } from '../stand-in/start.js';
import { temporaryDirectory } from './temporary-directory.js';

/** More events than any test writes. */
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
  readonly #options: StandInOptions;
  #standIn: StandIn;

  private constructor(directory: Directory, options: StandInOptions, standIn: StandIn) {
    this.#directory = directory;
    this.#options = options;
    this.#standIn = standIn;
  }

  static async start(options: StandInOptions = {}): Promise<KillableEventStore> {
    const directory = await temporaryDirectory();
    return new KillableEventStore(directory, options, await startStandIn(directory.path, options));
  }

  get port(): number {
    return this.#standIn.port;
  }

  get url(): string {
    return this.#standIn.url;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#standIn.child.kill();
  }

  /** Stops the process: connections stay open, nothing is answered. */
  freeze(): void {
    this.#standIn.child.signal('SIGSTOP');
  }

  thaw(): void {
    this.#standIn.child.signal('SIGCONT');
  }

  /** Starts it again on the same port and data. */
  async restart(): Promise<void> {
    this.#standIn = await startStandIn(this.#directory.path, { ...this.#options, port: this.port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** The server that `EVENTSTORE_URL` names, or else a new stand-in. */
export const eventStoreServer = async (): Promise<{ readonly url: string } & AsyncDisposable> => {
  const url = process.env['EVENTSTORE_URL'];
  if (url === undefined || url === '') return KillableEventStore.start();
  return { url, [Symbol.asyncDispose]: () => Promise.resolve() };
};
