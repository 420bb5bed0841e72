import { randomBytes } from 'node:crypto';

/** The addresses of the servers, under the names that the product reads. */
export type Addresses = {
  readonly EVENTSTORE_URL: string;
  readonly TEMPORAL_ADDRESS: string;
  readonly KAFKA_BROKERS: string;
  readonly DATABASE_URL: string;
};

/** @throws Error if the environment lacks one of them */
export const addresses = (): Addresses => {
  const named = (name: keyof Addresses): string => {
    const value = process.env[name] ?? '';
    if (value === '') throw new Error(`${name} is not set: run "npm run servers -- start" and source .servers/env`);
    return value;
  };
  return {
    EVENTSTORE_URL: named('EVENTSTORE_URL'),
    TEMPORAL_ADDRESS: named('TEMPORAL_ADDRESS'),
    KAFKA_BROKERS: named('KAFKA_BROKERS'),
    DATABASE_URL: named('DATABASE_URL'),
  };
};

/** A unique name on these servers. */
export const ownNamespace = (): string => `bench-${randomBytes(5).toString('hex')}`;
