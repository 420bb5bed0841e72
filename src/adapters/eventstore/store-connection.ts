import { setMaxListeners } from 'node:events';

import { EventStoreDBClient } from '@eventstore/db-client';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';

import { StartProblem } from '../../kernel/base/start-problem.js';
import { cancelledByUs, GRPC } from './store-failures.js';
import { within } from '../shared/within.js';

/** How long a read may receive no event before its node counts as silent, in milliseconds. */
export const READ_SILENCE_MS = 1_500;
/** How long the client may take to end its calls when it is closed, in milliseconds; it can wait for ever for a call that was left early. */
const CLOSE_MS = 1_000;
/**
 * How long one node may take to name the leader, in seconds, unless EVENTSTORE_URL sets it. The client would wait 5 s, and it often asks the node
 * that it has just left first. A read waits for both: for a node, and for its answer.
 */
const GOSSIP_SECONDS = 1;

/** One BatchAppend call: appends go up, their answers come down, in any order. */
export type BatchStream = ReturnType<StreamsClient['batchAppend']>;

/**
 * What the client offers its own commands (protected members). The batch call uses them, because the client's own bookkeeping of that call is not
 * reliable. It is one table for the complete process, so the end of any call rejects the appends of every client, and a later answer ends the
 * process. Its appends have no deadline, so a silent server means waiting for ever.
 */
type ClientInternals = {
  readonly GRPCStreamCreator: <Call>(
    stub: typeof StreamsClient,
    name: string,
    create: (client: StreamsClient) => Call,
  ) => () => Promise<Call>;
  callArguments: (
    options: { readonly requiresLeader?: boolean },
    callOptions: { readonly deadline: number },
  ) => Parameters<StreamsClient['batchAppend']>;
  readonly getGRPCClient: (stub: typeof StreamsClient, name: string) => Promise<StreamsClient>;
  handleError: (client: unknown, error: unknown) => Promise<void>;
  /** Looks for a node and connects to it. */
  createChannel: () => Promise<unknown>;
  readonly getChannel: () => Promise<{ close(): void }>;
};

/** The client treats a node that does not answer as absent. */
class SilentNode extends Error {
  readonly code = GRPC.unavailable;
}

/** The parts of a connection string as the client parses it: a password may hold a `?`, trailing slashes are ignored. */
const partsOf = (url: string) => {
  const whole = url.trim().replace(/\/+$/, '');
  const [start = ''] = /^[^:]+:\/\/(?:[^:]+:[^@]+@)?/.exec(whole) ?? [];
  const [hosts = '', ...options] = whole.slice(start.length).split('?');
  return { start, hosts, options: options.length === 0 ? null : options.join('?') };
};

/** Whether a connection string names several nodes, or a name that leads to them. */
const namesSeveral = (url: string): boolean => {
  const { start, hosts } = partsOf(url);
  return /^[^:]+\+discover:/.test(start) || hosts.split(',').filter((host) => host !== '').length > 1;
};

/**
 * The same with this server's gossip timeout. It comes first: the client takes the last value of a repeated option, and parses the rest as before.
 */
const withGossipTimeout = (url: string): string => {
  if (!namesSeveral(url)) return url;
  const { start, hosts, options } = partsOf(url);
  return `${start}${hosts}?gossipTimeout=${String(GOSSIP_SECONDS)}${options === null ? '' : `&${options}`}`;
};

const openClient = (url: string): EventStoreDBClient => {
  try {
    return EventStoreDBClient.connectionString(withGossipTimeout(url));
  } catch (error) {
    // The client's message about an unreadable string quotes it, and the quoted part may be the password.
    const isSafe = error instanceof Error && !('connectionString' in error || error instanceof URIError);
    throw new StartProblem(
      `EVENTSTORE_URL cannot be used: ${isSafe ? error.message : 'it is not an EventStoreDB connection string.'}`,
    );
  }
};

/** A connection to EventStoreDB. It is made with the first call and made again by the client whenever it is lost. */
export class StoreConnection implements AsyncDisposable {
  readonly client: EventStoreDBClient;
  readonly #internals: ClientInternals;
  readonly #hasOthers: boolean;
  #node = new AbortController();
  #turning: Promise<void> | null = null;
  /** When the client found the current node, in milliseconds of the process's clock; null while it looks for one. */
  #foundAt: number | null = null;
  #leaderlessAt = -Infinity;

  /**
   * Connects to nothing yet.
   * @throws StartProblem for a connection string, or a file that it names, which cannot be used
   */
  constructor(url: string) {
    this.client = openClient(url);
    this.#hasOthers = namesSeveral(url);
    const internals = this.client as unknown as ClientInternals;
    this.#internals = internals;
    setMaxListeners(0, this.#node.signal);
    // A call that this code ends must not drop the connection that all others use.
    const reconnect = internals.handleError;
    internals.handleError = async (client, error) => {
      if (!cancelledByUs(error)) await reconnect(client, error);
    };
    const connect = internals.createChannel;
    internals.createChannel = async () => {
      this.#foundAt = null;
      const channel = await connect();
      this.#foundAt = performance.now();
      return channel;
    };
    const argumentsOf = internals.callArguments;
    // A follower answers reads itself, a moment behind: a mind would decide on less than it has answered.
    internals.callArguments = (options, callOptions) => argumentsOf({ ...options, requiresLeader: true }, callOptions);
  }

  /** A call met no leader: there is none, or the node that it asked is not the leader. */
  foundNoLeader(): void {
    this.#leaderlessAt = performance.now();
  }

  /** Whether any call has found no leader since then. @param sinceMs of the process's clock */
  lackedLeaderSince(sinceMs: number): boolean {
    return this.#leaderlessAt >= sinceMs;
  }

  /** Aborts when this connection turns to another node: reads and calls that wait for the silent one must be repeated. */
  get node(): AbortSignal {
    return this.#node.signal;
  }

  /**
   * Leaves a silent node, if there are others. The client itself notices nothing until its keep-alive ends the connection, 10 to 20 s later, while a
   * cluster has another leader after two. A node that was found after the silence began is not to blame for it.
   */
  async leaveSilentNode(): Promise<void> {
    if (!this.#hasOthers || !this.#hadTimeToAnswer) return;
    this.#turning ??= this.#turn().finally(() => (this.#turning = null));
    await this.#turning;
  }

  get #hadTimeToAnswer(): boolean {
    return this.#foundAt !== null && performance.now() - this.#foundAt >= READ_SILENCE_MS;
  }

  async #turn(): Promise<void> {
    const { getGRPCClient, handleError } = this.#internals;
    const client = await getGRPCClient(StreamsClient, 'silent');
    // The client may have turned to another node meanwhile.
    if (!this.#hadTimeToAnswer) return;
    await handleError(client, new SilentNode('The node does not respond.'));
    const left = this.#node;
    this.#node = new AbortController();
    setMaxListeners(0, this.#node.signal);
    left.abort();
  }

  /** Opens a batch call. It may break before it is connected; the stream's `error` event reports that. */
  async openBatch(): Promise<BatchStream> {
    const { GRPCStreamCreator: create, callArguments } = this.#internals;
    const open = create(StreamsClient, 'batchAppend', (client) =>
      client.batchAppend(...callArguments({}, { deadline: Infinity })),
    );
    return open();
  }

  /** Ends every call and closes the connection, which then no longer keeps the process alive. */
  async [Symbol.asyncDispose](): Promise<void> {
    await within(CLOSE_MS, this.client.dispose());
    // A client that looks for a node does not stop looking.
    const closed = this.#internals.getChannel().then(
      (channel) => channel.close(),
      () => undefined,
    );
    await within(CLOSE_MS, closed);
  }
}
