import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';

import { UPDATE_LATE, PROCESS_BUSY, RUN_ENDING, STEP_FAILED } from '../../kernel/processes/process-step.js';

/**
 * The meaning of a failed update. `threw`: its step threw something that is not a refusal, for the caller with that token. `again`: this attempt met
 * a run at its end or a temporary failure of the server, and the same update id is safe. `unknownAttributes`: as `again`, once they are registered.
 * `away`: the server did not answer, or does not admit this client; nothing more is known. `full`: too many wait for this process. `late`: the
 * workflow ran no step, because the caller had stopped waiting.
 */
export type UpdateFailure =
  | { readonly kind: 'threw'; readonly token: string | null; readonly cause: Error }
  | { readonly kind: 'again' | 'unknownAttributes' | 'away' | 'full' | 'late' }
  | { readonly kind: 'defect'; readonly cause: unknown };

/** The gRPC status codes that are distinguished here. */
const grpc = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  permissionDenied: 7,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const kindOfCode: Readonly<Record<number, 'again' | 'away' | 'full'>> = {
  [grpc.cancelled]: 'away',
  [grpc.deadlineExceeded]: 'away',
  [grpc.unavailable]: 'away',
  [grpc.permissionDenied]: 'away',
  [grpc.unauthenticated]: 'away',
  [grpc.unknown]: 'again',
  // The run that was to answer closed meanwhile.
  [grpc.notFound]: 'again',
  // "unexpected workflow task failure": a worker died or restarted during the update.
  [grpc.failedPrecondition]: 'again',
  [grpc.aborted]: 'again',
  [grpc.internal]: 'again',
  [grpc.resourceExhausted]: 'full',
};

/**
 * The server's own failures of an update that its run left without an answer: the run ended after it was accepted, or the worker's reply left it out.
 * In the latter case the server keeps nothing under its id.
 */
const LEFT_WITHOUT_ANSWER: readonly unknown[] = ['AcceptedUpdateCompletedWorkflow', 'UnprocessedUpdate'];

export const updateFailureOf = (error: unknown): UpdateFailure => {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return { kind: 'away' };
  if (error instanceof WorkflowNotFoundError) return { kind: 'again' };
  if (error instanceof WorkflowUpdateFailedError) return handlerFailureOf(error);
  const grpcError = causes(error).find(isGrpcServiceError);
  if (grpcError === undefined) return { kind: 'defect', cause: error };
  const code: number = grpcError.code;
  if (code === grpc.invalidArgument && grpcError.details.includes('search attribute')) {
    return { kind: 'unknownAttributes' };
  }
  const kind = kindOfCode[code];
  return kind === undefined ? { kind: 'defect', cause: error } : { kind };
};

/** @throws the error of the step if it failed the update, else the error itself */
export const threwOf = (error: unknown): never => {
  const failure = updateFailureOf(error);
  throw failure.kind === 'threw' ? failure.cause : error;
};

const handlerFailureOf = (error: WorkflowUpdateFailedError): UpdateFailure => {
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return { kind: 'threw', token: null, cause: cause ?? error };
  if (cause.type === RUN_ENDING || LEFT_WITHOUT_ANSWER.includes(cause.type)) return { kind: 'again' };
  if (cause.type === PROCESS_BUSY) return { kind: 'full' };
  if (cause.type === UPDATE_LATE) return { kind: 'late' };
  const token: unknown = cause.type === STEP_FAILED ? cause.details?.[0] : null;
  return { kind: 'threw', token: typeof token === 'string' ? token : null, cause };
};

const causes = (error: unknown): readonly unknown[] =>
  error instanceof Error && error.cause !== undefined ? [error, ...causes(error.cause)] : [error];
