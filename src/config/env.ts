/** The names and values with which the process was started. An empty value counts as absent, because compose files leave one out that way. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The only reader of the process's environment (contract 11.1). Everything else gets what it needs as arguments. */
export const readEnvironment = (): Environment => ({ ...process.env });
