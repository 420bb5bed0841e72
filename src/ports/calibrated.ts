/**
 * The score of a cosine: 0 for texts with nothing in common, 0.5 at `related`, 1 for equal texts, and linear in between.
 * @param related the cosine that separates related texts from unrelated ones, above 0 and below 1; it is specific to the embedder
 */
export const calibrated = (cosine: number, related: number): number => {
  if (cosine <= 0) return 0;
  if (cosine < related) return (0.5 * cosine) / related;
  return Math.min(1, 0.5 + (0.5 * (cosine - related)) / (1 - related));
};
