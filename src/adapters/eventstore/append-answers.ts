import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';

import { GRPC, isElecting } from './store-failures.js';
import { toPosition } from './stored-event.js';

/** The server's answer to an append. The position of a repeat is the position of the first time; null if the server no longer finds the event. */
export type ExactAnswer =
  | { readonly kind: 'stands'; readonly revision: number; readonly position: number | null }
  | { readonly kind: 'conflict'; readonly actual: number };

/**
 * The outcome of an append that the server did not accept. `notYet`: nothing was written, and waiting makes sense, as while a leader is elected.
 * `refused`: nothing was written, and nothing will be. `unknown`: it may still be written, so its revision has to be looked up.
 */
export type AppendFate = 'notYet' | 'refused' | 'unknown';

/** By the type of the answer's details, without its package. Any other type is `unknown`. */
const FATES: Readonly<Record<string, AppendFate>> = {
  AccessDenied: 'refused',
  BadRequest: 'refused',
  InvalidTransaction: 'refused',
  MaximumAppendSizeExceeded: 'refused',
  StreamDeleted: 'refused',
  Timeout: 'unknown',
  Unknown: 'unknown',
};

const fateOf = (type: string, message: string): AppendFate => {
  // Without a leader the details are an empty message of Google's: only the text says why.
  if (type === 'google.protobuf.Empty') return isElecting(message) ? 'notYet' : 'unknown';
  return FATES[type.slice(type.lastIndexOf('.') + 1)] ?? 'unknown';
};

/** The server refused or could not finish one append; the call continues. */
export class AppendFailed extends Error {
  readonly fate: AppendFate;
  /** The equivalent gRPC status, if there is one. */
  readonly code: number | undefined;

  constructor(reason: string, fate: AppendFate, code?: number) {
    super(`The event store rejected an append: ${reason}`);
    this.name = 'AppendFailed';
    this.fate = fate;
    this.code = code;
  }
}

const CONFLICT = 'event_store.client.WrongExpectedVersion';

/** The answer to the append in a response. */
export const appendAnswerOf = (response: BatchAppendResp): ExactAnswer | AppendFailed => {
  const success = response.getSuccess();
  if (success !== undefined) {
    const position = success.getPosition();
    return {
      kind: 'stands',
      revision: Number(success.getCurrentRevision()),
      position: position === undefined ? null : toPosition(BigInt(position.getCommitPosition())),
    };
  }
  const error = response.getError();
  const details = error?.getDetails();
  const type = details?.getTypeName() ?? '';
  const wrong = details?.unpack((bytes) => shared.WrongExpectedVersion.deserializeBinary(bytes), CONFLICT) ?? null;
  if (wrong !== null)
    return {
      kind: 'conflict',
      actual: wrong.hasCurrentStreamRevision() ? Number(wrong.getCurrentStreamRevision()) : -1,
    };
  const message = error?.getMessage() ?? '';
  const code = type.endsWith('.AccessDenied') ? GRPC.permissionDenied : undefined;
  return new AppendFailed(`${type} ${message}`, fateOf(type, message), code);
};
