/**
 * A text up to the first of the stop strings, in complete characters. Not every model server ends its text there, and one that counts tokens may end
 * it inside a character.
 */
export const untilStop = (text: string, stop: readonly string[] = []): string => {
  const ends = stop.map((word) => text.indexOf(word)).filter((at) => at !== -1);
  return (ends.length === 0 ? text : text.slice(0, Math.min(...ends))).toWellFormed();
};
