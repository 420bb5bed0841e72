import type { AllStreamRecordedEvent, Position, RecordedEvent as StoreEvent } from '@eventstore/db-client';

import type { JsonObject } from '../../kernel/base/json.js';
import type { EventMeta, RecordedEvent } from '../../ports/event-store.js';

/** Between namespace and stream. A namespace contains no such character, so the streams of two namespaces never share a prefix. */
const SEPARATOR = '.';

/** The streams of one namespace on a shared server. */
export type StreamNames = {
  /** The prefix of all of them on the server. */
  readonly prefix: string;
  readonly toServer: (stream: string) => string;
  /** Null for a stream outside the namespace. */
  readonly fromServer: (name: string) => string | null;
};

/**
 * Names streams under a namespace.
 * @throws RangeError for a namespace with characters other than letters, digits, `_` and `-`
 */
export const streamNames = (namespace: string): StreamNames => {
  if (!/^[\w-]{1,64}$/.test(namespace)) throw new RangeError('A namespace is 1 to 64 letters, digits, "_" and "-".');
  const prefix = `${namespace}${SEPARATOR}`;
  return {
    prefix,
    toServer: (stream) => `${prefix}${stream}`,
    fromServer: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : null),
  };
};

/**
 * A position in the server's log as the port's number.
 * @throws RangeError beyond 2^53 - 1, which a log reaches after 9 petabytes: two events must never share a position
 */
export const toPosition = (commit: bigint): number => {
  const position = Number(commit);
  if (!Number.isSafeInteger(position)) throw new RangeError('The log position is beyond what a number holds exactly.');
  return position;
};

/** The port's number as a position in the server's log: for a single event commit and prepare are the same. */
export const toServerPosition = (position: number): Position => ({
  commit: BigInt(position),
  prepare: BigInt(position),
});

/** An event of a stream of this namespace, in the form of the port. */
export const toRecorded = (event: StoreEvent | AllStreamRecordedEvent, stream: string): RecordedEvent => {
  if (event.position === undefined) throw new RangeError('The server is older than 22.6: its events have no position.');
  return {
    id: event.id,
    type: event.type,
    data: event.data as JsonObject,
    meta: event.metadata as EventMeta,
    stream,
    revision: Number(event.revision),
    position: toPosition(event.position.commit),
  };
};
