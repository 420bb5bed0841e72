/** Thrown inside a commit to undo it: another writer moved a stream. */
export class StreamMoved extends Error {}
