/** The environment variables of the process. An empty value counts as absent, because that is how compose files omit a variable. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The only module that reads the process's environment. Everything else receives arguments. */
export const readEnvironment = (): Environment => ({ ...process.env });
