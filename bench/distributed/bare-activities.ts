/** The activities of the bare workflow. */
export type BareActivities = { nothing(payload: unknown): Promise<unknown> };

/** Returns its argument. */
export const bareActivities: BareActivities = { nothing: (payload) => Promise.resolve(payload) };
