import type { OrderRange } from '../../ports/read-models.js';

/** The condition that a position is within a range, with a leading AND if there is one, and its parameters. */
export const placeRange = ({ above, upTo }: OrderRange = {}): {
  readonly sql: string;
  readonly given: readonly string[];
} => ({
  sql: `${above === undefined ? '' : 'AND place > ? '}${upTo === undefined ? '' : 'AND place <= ?'}`,
  given: [...(above === undefined ? [] : [above]), ...(upTo === undefined ? [] : [upTo])],
});
