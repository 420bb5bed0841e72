/** Names and values as the process was started with them. An empty value counts as absent: that is how compose files leave one out. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The one reader of the process's environment (contract 11.1); everything else takes what it needs as arguments. */
export const readEnvironment = (): Environment => ({ ...process.env });
