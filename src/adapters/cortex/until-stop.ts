/** A text up to the first of the stop words. Not every model server ends its text there by itself. */
export const untilStop = (text: string, stop: readonly string[] = []): string => {
  const ends = stop.map((word) => text.indexOf(word)).filter((at) => at !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
};
