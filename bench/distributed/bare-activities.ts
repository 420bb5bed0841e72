/** What the bare workflow calls. */
export type BareActivities = { nothing(payload: unknown): Promise<unknown> };

/** Returns what it is given. */
export const bareActivities: BareActivities = { nothing: (payload) => Promise.resolve(payload) };
