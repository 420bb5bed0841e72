import pg from 'pg';

import type { Postgres } from './open.js';

/** How long after a lost connection the next one is tried, in milliseconds; the last value repeats. */
const RETRY_MS = [50, 200, 500, 1_000, 2_000] as const;
/** How often the connection is checked, and how long an answer may take: a connection that was cut silently reports nothing. */
const PROBE_MS = 5_000;
const PROBE_ANSWER_MS = 2_000;

/**
 * Listens to other processes of the namespace, on its own connection, which is made again whenever it is lost. Nothing is guaranteed: messages sent
 * while the connection is lost are missed.
 */
export class Notifications implements AsyncDisposable {
  readonly #postgres: Postgres;
  readonly #onHeard: (payload: string | null) => void;
  #client: pg.Client | null = null;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #closed = false;
  #connecting: Promise<void> | null = null;

  /** @param onHeard receives each message; null if messages may have been missed */
  constructor(postgres: Postgres, onHeard: (payload: string | null) => void) {
    this.#postgres = postgres;
    this.#onHeard = onHeard;
  }

  get isListening(): boolean {
    return this.#client !== null;
  }

  /** Starts listening. A second call does nothing. */
  start(): void {
    if (this.#closed || this.#client !== null || this.#connecting !== null || this.#timer !== undefined) return;
    this.#connecting = this.#connect().finally(() => (this.#connecting = null));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#connecting;
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = this.#postgres.connection();
    const lost = (): void => this.#lose(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => this.#onHeard(payload ?? null));
    try {
      await client.connect();
      await client.query(`LISTEN ${pg.escapeIdentifier(this.#postgres.channel)}`);
    } catch {
      this.#giveUp(client);
      return;
    }
    this.#client = client;
    this.#failures = 0;
    if (this.#closed) return;
    this.#probeLater(client);
    this.#onHeard(null);
  }

  #lose(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#giveUp(client);
  }

  #giveUp(client: pg.Client): void {
    client.end().catch(() => undefined);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#closed) return;
    const wait = RETRY_MS[Math.min(this.#failures, RETRY_MS.length - 1)] ?? 0;
    this.#failures += 1;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.start();
    }, wait).unref();
  }

  #probeLater(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      const probe = { text: 'SELECT 1', query_timeout: PROBE_ANSWER_MS };
      client.query(probe).then(
        () => {
          if (this.#client === client && !this.#closed) this.#probeLater(client);
        },
        () => this.#lose(client),
      );
    }, PROBE_MS).unref();
  }
}
