/** The available servers, in the order in which they are listed. */
export const SERVER_NAMES = ['eventstore', 'temporal', 'kafka', 'postgres', 'ipfs'] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

/** The options of a first start. Later starts continue with the existing data. */
export type FirstStart = {
  /** Whether clients must authenticate, if this server supports it. */
  readonly guarded: boolean;
  /** How many events of other programs the event store begins with. */
  readonly foreign: number;
};

/** The directory and the resources of one server. */
export type Site = FirstStart & {
  /** Absolute path; everything that the server keeps is below it. */
  readonly directory: string;
  /** Absolute path of the kept downloads, shared by all sites of this machine. */
  readonly cache: string;
  /** Loopback ports reserved for the server; as many as it requested. */
  readonly ports: readonly number[];
};

/** A command to be started as a server, and its account. */
export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The account to run as; only root can choose one. */
  readonly account: Account | undefined;
};
export type Account = { readonly uid: number; readonly gid: number };

/** The started server process: its output since the start, and its number. */
export type Started = {
  readonly pid: number;
  /** Everything it has written to its log since it was started. */
  readonly said: () => Promise<string>;
};

/** One kind of server. Every function rejects with one sentence for a person. */
export type Server = {
  readonly name: ServerName;
  /** How many ports it needs; clients use the first. */
  readonly portCount: number;
  /** How long it may take from its start until it answers, in milliseconds. */
  readonly readyLimitMs: number;
  /** The signal for a graceful stop. */
  readonly stopSignal: NodeJS.Signals;
  /** The others are useful without it: unless it is named explicitly, a failed start of it is reported but does not count as a failure. */
  readonly optional?: true;
  /** What "install" waits for while something is missing, as shown to people: "is built ...". */
  readonly installing: string;
  /** Puts what is missing into the cache, and leaves the rest unchanged. */
  readonly install: (cache: string) => Promise<void>;
  /** Makes the data directory if there is none, and returns how the server is started on it. */
  readonly prepare: (site: Site) => Promise<Launch>;
  /** Whether it answers, and is the one that was started. A rejection counts as not yet. */
  readonly answers: (site: Site, started: Started) => Promise<boolean>;
  /** Directories outside the site that hold its data; empty if there are none. */
  readonly elsewhere?: (site: Site) => Promise<readonly string[]>;
  /** The settings that clients need, by name. */
  readonly addresses: (site: Site) => Promise<Readonly<Record<string, string>>>;
};
