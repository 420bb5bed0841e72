/** A running server of one profile, as the scenarios see it. */
export type ServerUnderTest = AsyncDisposable & {
  /** May change with a restart. */
  readonly url: string;
  readonly ownerKey: string;
  readonly dataDir: string;
  /** Its output so far. */
  readonly output: string;
  /** Ends the server, by kill -9 or in order, and starts it again on its data. */
  restart(how: 'kill' | 'stop'): Promise<void>;
  /** Ends the server in order and keeps its data. */
  halt(): Promise<void>;
};

/** Starts a server on an empty store; `env` adds to its environment. */
export type OpenServer = (env?: Readonly<Record<string, string>>) => Promise<ServerUnderTest>;
