/** Limits of one connection, and of the number of connections. */
export type ConnectionLimits = {
  /** Milliseconds from the first byte of a request to the end of its headers; also how long a new connection may stay silent. */
  readonly headersTimeoutMs: number;
  /** Milliseconds from the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number;
  /** How often these two limits are checked, in milliseconds. */
  readonly timeoutCheckMs: number;
  /**
   * In milliseconds; longer than the minute for which proxies usually keep a connection. So the proxy closes it first, and never sends a request over
   * a closed one.
   */
  readonly keepAliveTimeoutMs: number;
  /**
   * Milliseconds in which a client must read some byte of a pending response or event stream; after that the connection is closed. A lost mobile
   * connection has recovered, or is gone for good, in less time.
   */
  readonly unreadTimeoutMs: number;
  /**
   * Milliseconds in which a client must read a complete response: the largest has a few megabytes, which means 20 kB a second. For a finite stream,
   * the time for each 16 MiB (stream-body.ts).
   */
  readonly answerTimeoutMs: number;
  /**
   * The maximum number of open connections of one process; further ones are closed immediately. An idle connection takes about 10 kB, so all of them
   * take 100 MB. The number is below the usual limit of open files.
   */
  readonly maxConnections: number;
  /**
   * Connections that the system accepts while the process is busy (at most `net.core.somaxconn`). Node's default, 511, is too low for the clients
   * that reconnect together after an outage: the system drops the rest, and each tries again after 1, 3, 7 and 15 s.
   */
  readonly backlog: number;
};

/** The size limit of the request line and headers in bytes. */
export const MAX_HEADER_BYTES = 16 * 1024;

export const connectionLimits: ConnectionLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  timeoutCheckMs: 2_000,
  keepAliveTimeoutMs: 65_000,
  unreadTimeoutMs: 60_000,
  answerTimeoutMs: 300_000,
  maxConnections: 10_000,
  backlog: 10_000,
};
