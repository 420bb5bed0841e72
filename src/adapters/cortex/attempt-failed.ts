/** Why one attempt returned no text. `reason`: a message with neither the key nor the server's text. */
export class AttemptFailed extends Error {
  readonly reason: string;
  /** The HTTP status; null if there was no answer, or it was cut off. With a status of success, the answer cannot be used. */
  readonly status: number | null;
  /** `Retry-After` in milliseconds, 0 without one. */
  readonly retryAfterMs: number;
  /** The model reached its limit of tokens before it said anything. */
  readonly needsRoom: boolean;

  constructor(reason: string, status: number | null = null, retryAfterMs = 0, needsRoom = false) {
    super(reason);
    this.name = 'AttemptFailed';
    this.reason = reason;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.needsRoom = needsRoom;
  }
}

/** The server is up, but this one answer cannot be used. */
export const badAnswer = (reason: string, needsRoom = false): AttemptFailed =>
  new AttemptFailed(reason, 200, 0, needsRoom);
