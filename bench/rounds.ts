/** The measurements of one round: the product's and the reference's. */
export type Pair<Measured> = { readonly ours: Measured; readonly reference: Measured };

/** Median, smallest and largest of some values. */
export type Spread = { readonly median: number; readonly min: number; readonly max: number };

/**
 * Measures both, one after the other: the reference first in even rounds, the product first in odd ones, so that neither always finds the machine as
 * the other left it.
 */
export const measurePair = async <Measured>(
  round: number,
  ours: () => Promise<Measured>,
  reference: () => Promise<Measured>,
): Promise<Pair<Measured>> => {
  if (round % 2 === 1) {
    const first = await ours();
    return { ours: first, reference: await reference() };
  }
  const first = await reference();
  return { ours: await ours(), reference: first };
};

/** @throws RangeError if there are no values */
export const spreadOf = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), min: quantile(sorted, 0), max: quantile(sorted, 1) };
};

/** The ratios of the rounds, the product divided by the reference. */
export const ratioOf = (pairs: readonly Pair<number>[]): Spread =>
  spreadOf(pairs.map(({ ours, reference }) => ours / reference));

/**
 * The smallest value that at least this share (0..1) of the values do not exceed: nearest rank, so always a measured value.
 * @param sorted in ascending order
 * @throws RangeError if there are no values
 */
export const quantile = (sorted: readonly number[], share: number): number => {
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('nothing was measured');
  return value;
};
