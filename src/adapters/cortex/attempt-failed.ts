/** A member of a request that a server refuses: because it does not know it (`isUnknown`), or because of its value. */
export type RefusedMember = { readonly name: string; readonly isUnknown: boolean };

/** Why one attempt returned no text. `reason`: a message with neither the key nor the server's text. */
export class AttemptFailed extends Error {
  readonly reason: string;
  /** The HTTP status; null if there was no answer, or it was cut off. With a status of success, the answer cannot be used. */
  readonly status: number | null;
  /** `Retry-After` in milliseconds, 0 without one. */
  readonly retryAfterMs: number;
  /** The model reached its limit of tokens before it said anything. */
  readonly needsRoom: boolean;
  /** The member of the request that the server refuses, if it names one. */
  readonly member: RefusedMember | null;
  /** The prompt is longer than the context: of so many tokens, null if the server does not say how many. undefined: that is not why. */
  readonly tooLongFor: number | null | undefined;

  constructor(
    reason: string,
    status: number | null = null,
    retryAfterMs = 0,
    needsRoom = false,
    member: RefusedMember | null = null,
    tooLongFor?: number | null,
  ) {
    super(reason);
    this.name = 'AttemptFailed';
    this.reason = reason;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.needsRoom = needsRoom;
    this.member = member;
    this.tooLongFor = tooLongFor;
  }
}

/** The server is up, but this one answer cannot be used. */
export const badAnswer = (reason: string, needsRoom = false): AttemptFailed =>
  new AttemptFailed(reason, 200, 0, needsRoom);
