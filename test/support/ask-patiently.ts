/** How often a store that does not answer in time is tried, and the milliseconds between two attempts. */
const TRIES = 8;
const PAUSE_MS = 1_000;

/** Retries while the store is reported as down, as on a machine that freezes for a moment. The last answer is returned unchanged. */
export const askPatiently = async <Answer>(
  ask: () => Promise<Answer>,
  isAway: (answer: Answer) => boolean,
): Promise<Answer> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (!isAway(answer) || tries === TRIES) return answer;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};
