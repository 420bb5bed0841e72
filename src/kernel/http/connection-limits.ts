/** Limits of one connection, and of the number of connections. */
export type ConnectionLimits = {
  /** Milliseconds from the first byte of a request to the end of its headers; also how long a new connection may be silent. */
  readonly headersTimeoutMs: number;
  /** Milliseconds from the first byte of a request to the end of its body. */
  readonly requestTimeoutMs: number;
  /** How often these two limits are checked, in milliseconds. */
  readonly timeoutCheckMs: number;
  /** In milliseconds; longer than the minute for which proxies usually keep a connection. So they close it first and never send into a closed one. */
  readonly keepAliveTimeoutMs: number;
  /**
   * Milliseconds in which a client must take some byte of a waiting answer or event stream; after that the connection is cut. A lost mobile
   * connection is back, or gone for good, in less time.
   */
  readonly unreadTimeoutMs: number;
  /**
   * Milliseconds in which a client must take a whole answer: the largest has a few megabytes, which is 20 kB a second. For a stream that has an end,
   * the time for each 16 MiB (stream-body.ts).
   */
  readonly answerTimeoutMs: number;
  /**
   * Open connections of one process; further ones are closed at once. An idle one holds about 10 kB, so all of them 100 MB. It is below the number of
   * files that systems let a server open.
   */
  readonly maxConnections: number;
  /**
   * Connections that the system takes while the process is busy (at most `net.core.somaxconn`). Node's default, 511, is less than the clients of one
   * server that come back together after an outage: the system drops the rest, and each tries again after 1, 3, 7 and 15 s.
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
