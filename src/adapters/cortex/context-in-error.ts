/** The figures that are read: a context of a model, in tokens. */
const LEAST = 64;
const MOST = 100_000_000;
/** How much of an error is searched, in characters: its beginning is the server's, and later it may repeat the prompt. */
const SEARCHED_CHARS = 600;
/** How servers say how long their context is; the first that fits counts. */
const SAID: readonly RegExp[] = [
  /"n_ctx"\s*:\s*(\d{1,9})/,
  /context[ _-]?(?:length|window|size)\b[^.\d]{0,40}(\d{1,9})/i,
  /(\d{1,9})\s+(?:tokens?\s+)?maximum\b/i,
  /must be <= (\d{1,9})/i,
  /maximum number of tokens allowed\D{0,10}(\d{1,9})/i,
];

/** The context of a model in tokens, as the body of an error names it; null if it does not. */
export const contextInError = (body: string): number | null => {
  const searched = body.slice(0, SEARCHED_CHARS);
  for (const said of SAID) {
    const tokens = Number(said.exec(searched)?.[1] ?? NaN);
    if (tokens >= LEAST && tokens <= MOST) return tokens;
  }
  return null;
};
