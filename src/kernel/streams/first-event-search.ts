/**
 * How many events of a stream, starting at the revision in a process's id, are searched for the first event of the process. If it is not among them,
 * the process counts as unknown.
 */
export const FIRST_EVENT_SEARCH = 2_000;
