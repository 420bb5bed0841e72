/** The names and values with which the process was started. An empty value counts as absent, because compose files leave one out that way. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The only module that reads the process's environment. Everything else receives arguments. */
export const readEnvironment = (): Environment => ({ ...process.env });
