import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';

/** The faults of a node. */
export type Trouble = {
  /** There is no leader: writes fail, and so do reads that require one. */
  readonly electing?: boolean;
  /** This node follows another one on this port: it answers reads from its own log, and redirects calls that require the leader. */
  readonly leaderPort?: number;
  /** The denied rights of the user. */
  readonly denies?: readonly ('read' | 'write')[];
  /** A write call is ended while there is no leader, as by a leader that is killed. */
  readonly cutsWrites?: boolean;
  /** Writes are not answered. */
  readonly swallows?: boolean;
  /** Each subscription is dropped after this many events. */
  readonly dropAfter?: number;
};

const NAME = 'trouble.json';

/** Sets the fault of the node on this directory, or clears it. The node reads it with each request. */
export const trouble = (directory: string, now: Trouble = {}): void =>
  writeFileSync(join(directory, NAME), JSON.stringify(now));

/** The current fault of the node on this directory. */
export const troubleOf = (directory: string) => (): Trouble => {
  try {
    return JSON.parse(readFileSync(join(directory, NAME), 'utf8')) as Trouble;
  } catch {
    return {};
  }
};

/** A node's status while there is no leader. */
export const NOT_READY = 'Server Is Not Ready';

const exception = (
  code: status,
  details: string,
  more: Readonly<Record<string, string>>,
): Partial<ServerErrorResponse> => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(more)) metadata.set(name, value);
  return { code, details, metadata };
};

/** How a call ends at a faulty node; null if it is served. */
export const endOfCall = (
  { electing = false, cutsWrites = false, leaderPort, denies = [] }: Trouble,
  call: { readonly metadata: Metadata },
  wants: 'read' | 'write',
): Partial<ServerErrorResponse> | null => {
  if (denies.includes(wants))
    return exception(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
  if (call.metadata.get('requires-leader')[0] !== 'true') return null;
  if (electing && (wants === 'read' || cutsWrites)) return exception(status.UNAVAILABLE, NOT_READY, {});
  if (leaderPort === undefined) return null;
  const leader = { 'leader-endpoint-host': '127.0.0.1', 'leader-endpoint-port': String(leaderPort) };
  return exception(status.NOT_FOUND, 'Leader info available', { exception: 'not-leader', ...leader });
};
