import { inject, it } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Set by `npm run test:long`. */
    readonly long: boolean;
  }
}

const isLong = inject('long');

/** How many runs a property gets: `few` in `npm test`, `many` in `npm run test:long`. */
export const runs = (few: number, many: number): number => (isLong ? many : few);

const left = Object.assign(() => undefined, { each: () => () => undefined });

/**
 * A test that only `npm run test:long` runs, because it takes seconds: largest inputs, kills, exhaustive searches. A file with only such tests
 * is named `*.long.test.ts` instead.
 */
export const itLong = (isLong ? it : left) as unknown as typeof it;
