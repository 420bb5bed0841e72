import { Metadata, type StatusObject, status } from '@grpc/grpc-js';

/** The maximum size of one write, in bytes. What counts differs between servers (like.ts). */
export const MAX_APPEND_BYTES = 1024 * 1024;

/** An invalid request: UNKNOWN in a single call, BadRequest in a batch. */
export class BadRequest extends Error {}

/** How a call ends on an error without a description: UNKNOWN. */
export const asStatus = (error: unknown): Partial<StatusObject> => ({
  code: status.UNKNOWN,
  details: error instanceof Error ? error.message : String(error),
});

/** How a single append larger than MAX_APPEND_BYTES ends. */
export const appendTooLarge = (): Partial<StatusObject> => {
  const metadata = new Metadata();
  metadata.set('exception', 'maximum-append-size-exceeded');
  metadata.set('maximum-append-size', String(MAX_APPEND_BYTES));
  return { code: status.INVALID_ARGUMENT, details: 'Maximum append size exceeded.', metadata };
};

/** How the call of a subscriber that does not keep up ends. */
export const tooSlow = (): Partial<StatusObject> => ({ code: status.ABORTED, details: 'Operation timed out' });
