import { randomBytes } from 'node:crypto';

/** The settings with the addresses of the servers. */
const NAMES = ['EVENTSTORE_URL', 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'KAFKA_BROKERS', 'DATABASE_URL'] as const;
export type Addresses = Readonly<Record<(typeof NAMES)[number], string>>;

/**
 * The addresses of the servers of this run.
 * @throws Error that names every missing address, and how to get it.
 */
export const distEnv = (env: NodeJS.ProcessEnv = process.env): Addresses => {
  const missing = NAMES.filter((name) => (env[name] ?? '') === '');
  if (missing.length > 0) {
    throw new Error(
      `The tests against real servers need ${missing.join(', ')}: ` +
        'run "npm run servers -- start", then "set -a; . .servers/env; set +a" in the same shell.',
    );
  }
  return Object.fromEntries(NAMES.map((name) => [name, env[name]])) as Addresses;
};

/** A unique value for ANIMA_NAMESPACE: tests share the servers with each other and with the data of earlier runs. */
export const randomNamespace = (): string => `t${randomBytes(6).toString('hex')}`;
