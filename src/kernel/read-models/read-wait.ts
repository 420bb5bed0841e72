import { Rejection } from '../base/rejection.js';
import type { EventStore } from '../../ports/event-store.js';
import { READ_WAIT_MS, type Projection, type ReadModels } from '../../ports/read-models.js';

/**
 * Waits until a mind's read model has reached its stream's present revision, or `minimum` if the client requested one.
 * @returns the lowest revision of the stream that the read will see
 * @throws Rejection READ_MODEL_BEHIND if `minimum` is not reached in time; without `minimum` the read continues with what is available
 */
export const waitForStream = async (
  deps: { readonly events: EventStore; readonly readModels: ReadModels },
  projection: Projection,
  stream: string,
  minimum: number | undefined,
): Promise<void> => {
  if (minimum !== undefined) {
    if (minimum >= 0) await requireReached(deps.readModels, projection, stream, minimum);
    return;
  }
  const target = (await deps.events.read(stream, { direction: 'backwards', limit: 1 })).lastRevision;
  if (target >= 0) await deps.readModels.reached(projection, stream, target);
};

/**
 * Waits until a read model has reached a revision of a stream.
 * @throws Rejection READ_MODEL_BEHIND if it is not reached in time
 */
export const requireReached = async (
  readModels: Pick<ReadModels, 'reached'>,
  projection: Projection,
  stream: string,
  revision: number,
): Promise<void> => {
  if (!(await readModels.reached(projection, stream, revision))) throw behind(revision);
};

/** Waits until the stream itself has reached `minimum`. Reads of the event store are never behind, but the revision may not exist yet. */
export const waitForRevision = async (
  events: EventStore,
  stream: string,
  minimum: number | undefined,
): Promise<void> => {
  if (minimum === undefined) return;
  const last = async (): Promise<number> =>
    (await events.read(stream, { direction: 'backwards', limit: 1 })).lastRevision;
  if ((await last()) >= minimum) return;
  const signal = AbortSignal.timeout(READ_WAIT_MS);
  for await (const batch of events.subscribe({ stream: { name: stream, from: minimum }, signal })) {
    if (batch.length > 0) return;
  }
  throw behind(minimum);
};

const behind = (minimum: number): Rejection =>
  new Rejection('READ_MODEL_BEHIND', { details: { minRevision: minimum }, retryAfter: 1 });
